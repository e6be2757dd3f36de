"""From a script's text, or a command line, to its probes and the actions of each clause, in the words of the suites."""

import bisect
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from probe_effect.scripts import form
from probe_effect.scripts.clauses import Clause, ScriptProgram, kind_of, program, provider_of, resolved, timer_hz
from probe_effect.scripts.commands import command_line, command_name, read_command
from probe_effect.scripts.form import Language, Script, ScriptError, ScriptProbe, Timing, Tokens

_STORES = {"map", "thread-local"}
_TRAITS = {*form.KEYED, "name", "time"}
_NAME_FIELD = re.compile(form.NAME_FIELD)


class _Doing:
    """What clauses do, read one after another; what maps hold is known from all clauses read before.

    `actions`: words of the suites' `action` keys, in the script's order. `unknown`: parts that no word covers,
    shortened. `stores_time`: whether a map takes a time. `takes_difference`: whether one time is taken from another.
    """

    def __init__(self, functions: Mapping[str, Tokens]) -> None:
        self.functions = functions
        self.held: dict[str, set[str]] = {}
        self.inside: set[str] = set()

    def read(self, clause: Clause) -> None:
        self.actions: list[str] = []
        self.unknown: list[str] = []
        self.stores_time = self.takes_difference = False
        self.variables: dict[str, set[str]] = {}
        self.seen_time = False
        self.calls = 0
        for tokens in (clause.predicate, clause.block):
            _Walk(self, tokens).through(0, len(tokens))

    @property
    def timing(self) -> Timing | None:
        return "end" if self.takes_difference else "start" if self.stores_time else None


class _Walk:
    """A walk over tokens, which looks at each once or twice."""

    def __init__(self, doing: _Doing, tokens: Tokens) -> None:
        self.doing, self.tokens = doing, tokens

    def through(self, first: int, end: int, *, key: bool = False) -> None:
        """Read from one token to another; `key` says that they make a key whose action is counted already."""
        at = first
        while at < end:
            sort = self.tokens.sort(at)
            if sort in _STORES or self._is_array(at):
                at = self._map(at)
            elif sort == "word":
                at = self._word(at, key=key)
            else:
                if sort == "variable" and self.tokens.word(at + 1) == "=":
                    self.doing.variables[self.tokens.word(at)] = _held(self._right_side(at + 2))
                self._difference(at)
                at += 1

    def _is_array(self, at: int) -> bool:
        """Whether a word is one of D's associative arrays, and takes a value."""
        if self.tokens.sort(at) != "word" or self.tokens.word(at + 1) != "[" or self._is_field(at):
            return False
        return self.tokens.word(self.tokens.behind_key(at)) in form.ASSIGNED

    def _is_field(self, at: int) -> bool:
        return self.tokens.word(at - 1) in {".", "->"}

    def _difference(self, at: int) -> None:
        doing = self.doing
        if self.tokens.word(at) == "-" and doing.seen_time:
            doing.takes_difference |= "time" in self._traits_of(self._operand(at + 1))

    def _operand(self, at: int) -> int:
        while self.tokens.word(at) == "(":
            at += 1
        return at

    def _map(self, at: int) -> int:
        tokens, name = self.tokens, self.tokens.word(at)
        behind = tokens.behind_key(at)
        keys = (at + 2, behind - 1) if behind > at + 1 else (at, at)
        gathers = form.EFFECTS.get(tokens.word(behind + 1)) if tokens.word(behind) == "=" else None
        if gathers in {"aggregation", "histogram"} and tokens.word(behind + 2) == "(":
            self.through(*keys, key=True)
            return self._gather(gathers, keys, behind + 2)
        written = tokens.word(behind) in form.ASSIGNED or tokens.word(at - 1) in {"++", "--"}
        if written and not self._releases_time(name, behind):
            self._store(name, keys, behind)
        self.through(*keys, key=written)
        self.doing.seen_time |= "time" in self.doing.held.get(name, set())
        return behind

    def _gather(self, effect: str, keys: tuple[int, int], bracket: int) -> int:
        inner = bracket + 1, self.tokens.partner[bracket]
        self.through(*inner)
        actions = self._key_actions(keys)
        if effect == "histogram":
            what = form.HISTOGRAM_OF_TIME if "difference" in self._traits(*inner) else form.HISTOGRAM
            stacks = {form.BY_KERNEL_STACK, form.BY_USER_STACK}
            is_both = stacks <= set(actions)
            rest = (action for action in actions if action not in (stacks if is_both else {form.COUNT}))
            actions = [form.HISTOGRAM_BY_STACKS if is_both else what, *rest]
        self.doing.actions += actions
        return inner[1] + 1

    def _store(self, name: str, keys: tuple[int, int], behind: int) -> None:
        doing = self.doing
        if self.tokens.word(behind) == "=":
            held = _held(self._right_side(behind + 1))
            doing.held.setdefault(name, set()).update(held)
            doing.stores_time |= "time" in held
        is_thread_local = name.startswith("self->")
        doing.actions += [form.BY_NUMBER] if is_thread_local else self._key_actions(keys)

    def _releases_time(self, name: str, behind: int) -> bool:
        """Whether a stored time is set to 0, which is how D deletes; the measured timing pairs do it too."""
        words = self.tokens.word(behind), self.tokens.word(behind + 1)
        return words == ("=", "0") and "time" in self.doing.held.get(name, set())

    def _key_actions(self, keys: tuple[int, int]) -> list[str]:
        if keys[0] == keys[1]:
            return [form.COUNT]
        if self.tokens.word(keys[0]) == "(" and self.tokens.partner[keys[0]] == keys[1] - 1:  # a tuple
            keys = keys[0] + 1, keys[1] - 1
        traits = self._traits(*keys)
        each = [trait for at in range(*keys) for trait in self._traits_of(at)]
        if copies := [form.ACTS[trait] for trait in each if trait in form.KEYED]:
            return copies
        if "name" not in traits:
            return [form.BY_NUMBER]
        parts = self.tokens.parts(*keys)
        return [form.BY_NAME] if all("name" in self._traits(*part) for part in parts) else [form.BY_BOTH]

    def _word(self, at: int, *, key: bool) -> int:
        tokens, doing = self.tokens, self.doing
        word, is_call = tokens.word(at), tokens.word(at + 1) == "("
        if word == "if" and is_call:
            return self._branches(at)
        effect = None if self._is_field(at) else form.EFFECTS.get(word)
        if effect == "type" and is_call:
            return tokens.partner[at + 1] + 1
        if effect in form.ACTS and (is_call or effect != "print") and not (key and effect in form.KEYED):
            doing.actions.append(form.ACTS[effect])
        elif effect == "loop":
            doing.unknown.append(form.shortened(tokens.source(at, tokens.partner.get(at + 1, at))))
        elif effect == "time":
            doing.seen_time = True
        elif effect is None and not self._is_field(at):
            self._call(at, is_call=is_call)
        return at + 1

    def _branches(self, at: int) -> int:
        """Read branches, of which one is taken: each action counts as often as in the branch with most of it."""
        tokens, doing = self.tokens, self.doing
        before, most = doing.actions, Counter[str]()
        while tokens.word(at) == "if" and tokens.word(at + 1) == "(":
            doing.actions = before
            at = self._bracketed(at + 1)
            before, doing.actions = doing.actions, []
            at = self._bracketed(at)
            most |= Counter(doing.actions)
            doing.actions = []
            if tokens.word(at) != "else":
                break
            at += 1
        if tokens.word(at - 1) == "else":
            at = self._bracketed(at)
            most |= Counter(doing.actions)
        doing.actions = [*before, *most.elements()]
        return at

    def _bracketed(self, at: int) -> int:
        end = self.tokens.partner.get(at, at)
        self.through(at + 1, end)
        return end + 1 if end > at else at

    def _call(self, at: int, *, is_call: bool) -> None:
        tokens, doing, name = self.tokens, self.doing, self.tokens.word(at)
        if name in doing.functions:
            if name not in doing.inside:  # a function that calls itself is read once
                doing.calls += 1
                if doing.calls > form.MAX_CALLS:  # as of macros that call each other twice
                    start = tokens.tokens[at].start
                    raise form.failed(tokens.text, start, form.found_at(tokens.text, start), form.EXPECTED["calls"])
                doing.inside.add(name)
                body = doing.functions[name]
                _Walk(doing, body).through(0, len(body))
                doing.inside.discard(name)
        elif is_call and name == form.DELETE:
            if "time" not in doing.held.get(tokens.word(at + 2), set()):  # timing pairs delete theirs
                doing.actions.append(form.BY_NUMBER)
        elif is_call:
            doing.unknown.append(form.shortened(tokens.source(at, tokens.partner[at + 1])))

    def _right_side(self, first: int) -> set[str]:
        """The traits of an assigned value; a chain of assignments, or a block, has them in its own parts."""
        return self._traits(first, self.tokens.until(first, len(self.tokens), "; = {"))

    def _traits(self, first: int, end: int) -> set[str]:
        traits: set[str] = set()
        for at in range(first, end):
            is_minus = self.tokens.word(at) == "-" and "time" in traits
            if is_minus and "time" in self._traits_of(self._operand(at + 1)):
                traits.add("difference")
            traits |= self._traits_of(at)
        return traits

    def _traits_of(self, at: int) -> set[str]:
        word, sort = self.tokens.word(at), self.tokens.sort(at)
        if sort == "string":
            return {"name"}
        if sort == "variable":
            return self.doing.variables.get(word, set())
        if sort in _STORES:
            return self.doing.held.get(word, set())
        effect = form.EFFECTS.get(word) if sort == "word" else None
        if self._is_field(at):
            return {"name"} if _NAME_FIELD.search(word) else set()
        return {effect} & _TRAITS if effect else self.doing.held.get(word, set())


def _held(traits: set[str]) -> set[str]:
    """The traits that a variable or map keeps of its value: bytes, but no stack, which it has as a number."""
    if "difference" in traits:
        return {"difference"}
    return {"name" if trait == "string" else trait for trait in traits if trait in {"name", "string", "time"}}


def is_enclosed(block: Tokens) -> bool:
    """Whether every part of a block that costs is inside an `if` without `else`, or behind one that returns.

    Before it there may be assignments to variables.
    """
    at, has_branch = 1, False
    while at < len(block) - 1:
        if block.word(at) == ";":
            at += 1
        elif block.sort(at) == "variable" and block.word(at + 1) == "=":
            end = block.until(at, len(block) - 1, ";")
            if any(form.EFFECTS.get(block.word(index)) in form.ACTS for index in range(at, end)):
                return False
            at = end
        elif block.word(at) == "if" and block.word(at + 1) == "(":
            body = block.partner[at + 1] + 1
            end = block.partner.get(body, body)
            if block.word(body) != "{" or block.word(end + 1) == "else":
                return False
            if block.word(body + 1) == "return":
                return True
            at, has_branch = end + 1, True
        else:
            return False
    return has_branch


__all__ = ["Language", "Script", "ScriptError", "ScriptProbe", "Timing", "read_script"]

_PLAIN_NAME = re.compile(form.PLAIN_NAME)
_D_TEXT = re.compile(form.D_TEXT, re.MULTILINE)


def read_script(text: str) -> Script:
    """The script in a text: its probes, and the actions of each.

    The text is a program in bpftrace's language or in D, or a command line of `bpftrace`, `dtrace`, `perf`, `py-spy`,
    `strace` or `trace-cmd`. `sudo`, a prompt or a path before the command does no harm.

    Raises: ScriptError for a text in none of the languages, with line, column, what was found and what was expected.
    """
    text = text.removeprefix("\ufeff")  # the mark of its byte order
    command = command_line(text)
    if command is None:
        name = command_name(text)
        if _PLAIN_NAME.match(name) and name not in form.DEFINES and "{" not in text:
            raise form.failed(text, max(0, text.find(name)), f"“{form.shortened(name)}”", form.EXPECTED["tool"])
        return _read_program(text, None, None)
    if command.program is not None:
        return _read_program(command.program, command.language, command.pid)
    return read_command(text, command)


def _read_program(text: str, language: Language | None, pid: str | None) -> Script:
    whole = program(text)
    language = language or _language(text, whole.clauses)
    lines = [match.start() for match in re.finditer("\n", text)]
    doing = _Doing(whole.functions)
    for clause in whole.clauses:  # what maps hold must be known before what is read from them
        doing.read(clause)
    probes = tuple(probe for clause in whole.clauses for probe in _probes(doing, clause, language, lines))
    return Script(
        language=language,
        tracer=form.TRACERS[language],
        text=text,
        probes=probes,
        pid_filter=pid or _pid_of_all(whole, probes),
    )


def _language(text: str, clauses: Sequence[Clause]) -> Language:
    points = [attach_point.text for clause in clauses for attach_point in clause.attach_points]
    foreign = any(re.search(form.D_ONLY, point) and not provider_of(point) for point in points)
    return "d" if foreign or any("profile:::" in point for point in points) or _D_TEXT.search(text) else "bpftrace"


def _probes(doing: _Doing, clause: Clause, language: Language, lines: Sequence[int]) -> Iterator[ScriptProbe]:
    doing.read(clause)
    has_filter = clause.predicate_start is not None or is_enclosed(clause.block)
    default = form.PRINT if not clause.block else form.FILTER if has_filter else form.NOTHING
    for point in clause.attach_points:
        attach = resolved(point.text) if language == "bpftrace" else point.text
        yield ScriptProbe(
            attach=attach,
            kind=kind_of(attach, language),
            actions=tuple(doing.actions) or (default,),
            has_filter=has_filter,
            timing=doing.timing,
            unknown=tuple(doing.unknown),
            line=bisect.bisect_left(lines, point.start) + 1,
            hz=timer_hz(attach),
        )


def _pid_of_all(whole: ScriptProgram, probes: Sequence[ScriptProbe]) -> str | None:
    kinds = iter(probes)
    named: set[str | None] = set()
    for clause in whole.clauses:
        if {next(kinds).kind for _ in clause.attach_points} <= {*form.NO_EVENTS}:
            continue
        words = [token.text for token in clause.predicate.tokens]
        match words[:3]:
            case ["pid", "==", value] | [value, "==", "pid"] if words[3:4] in ([], ["&&"]) and "||" not in words:
                named.add(value)
            case _:
                named.add(None)
    return named.pop() if len(named) == 1 else None
