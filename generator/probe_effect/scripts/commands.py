"""Command lines of tools that trace: their words and options, their probes, and what they do at each event."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from probe_effect.scripts import form
from probe_effect.scripts.clauses import shown_calls, tracepoint_kind
from probe_effect.scripts.form import Language, Script, ScriptProbe, failed, shortened

_PART = re.compile("|".join(f"({pattern})" for _, pattern in form.SHELL))
_SORTS = tuple(name for name, _ in form.SHELL)
_ESCAPED = re.compile(r'\\([\\"$`])')
_SETTING = re.compile(form.NAMED)
_EVENTS = re.compile(form.EVENTS)
_REMARK, _NO_COMMAND = re.compile(form.REMARK), re.compile(form.NO_COMMAND)


@dataclass(frozen=True, slots=True)
class ToolCommand:
    """A tool and what it is told.

    Attributes:
        tool: the name of its command, without a folder.
        language: of what it reads.
        options: each option without its dashes, with its value; None for those that take none.
        words: what is no option: a subcommand, or the program that is traced.
        program: the text of `bpftrace -e` and `dtrace -n`; None for other tools.
    """

    tool: str
    language: Language
    options: Sequence[tuple[str, str | None]] = ()
    words: Sequence[str] = ()
    program: str | None = None

    @property
    def pid(self) -> str | None:
        """The value of `-p`, `--pid` or `--attach`, as it is written; None without them."""
        return next(iter(self.all("p", "pid", "attach")), None)

    def all(self, *names: str) -> list[str]:
        return [value for name, value in self.options if name in names and value is not None]

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.options)


def command_line(text: str) -> ToolCommand | None:
    """The tool and its options where a text is a command line of one that we read; None for any other text.

    Raises: ScriptError where a quote is never closed, or `bpftrace` or `dtrace` has no program in its command line.
    """
    words = _shell_words(text)
    tool = _command(words).rpartition("/")[2]
    language = form.LANGUAGES.get(tool)
    if language is None:
        return None
    rest = list(words)
    key = f"{tool} {rest[0]}" if rest else tool
    with_value = set(form.WITH_VALUE.get(key, form.WITH_VALUE[tool]))
    options, others = _split(rest, with_value, form.OWN_WORDS.get(tool, len(rest)))
    command = ToolCommand(tool, cast("Language", language), options, others)
    if tool not in {"bpftrace", "dtrace"}:
        return command
    letter = "e" if tool == "bpftrace" else "n"
    if programs := command.all(letter):
        return replace(command, program="\n".join(programs))
    actual = f"“{shortened(command.words[0])}”" if command.words else "no program"
    raise failed(text, 0, actual, f"-{letter}{form.EXPECTED['program']}")


@dataclass(frozen=True, slots=True)
class WatchedByTool:
    """Whom the options of a command line have its tool watch; neither where it watches all.

    Attributes:
        pid: the process, as it is written.
        command: the program that the tool starts and watches.
        follows: whether the children of the process are watched too.
    """

    pid: str | None = None
    command: str | None = None
    follows: bool = False


def watched_by_tool(text: str) -> WatchedByTool:
    """Whom a command line watches by an option (`-p`) or by the command behind it; a script watches all.

    Raises: ScriptError as `command_line` does.
    """
    command = command_line(text)
    # A process comes before all CPUs, as perf says itself.
    if command is None or (command.tool == "perf" and not command.pid and command.has("a", "all-cpus", "C", "cpu")):
        return WatchedByTool()
    pid, started = command.pid, next(iter(command.all("c")), None)
    if command.tool in {"strace", "py-spy", "perf"}:
        traced = command.words[command.tool != "strace" :]
        started = next(iter(traced), None) if traced and command.words[0] != "probe" else None
    elif command.tool == "trace-cmd":
        pid, started = next(iter(command.all("P")), None), None
    follows = command.has("f", "follow-forks") or (command.tool == "trace-cmd" and command.has("c"))
    return WatchedByTool(pid, started if pid is None else None, command.tool == "perf" or follows)


def command_name(text: str) -> str:
    """The program that a command line starts, without its folder and `.py`; of any other text its first word.

    Of a program that begins with a remark it is empty.

    Raises: ScriptError where a quote is never closed.
    """
    return _command(_shell_words(text)).rpartition("/")[2].removesuffix(".py")


def _command(words: Iterator[str]) -> str:
    """The first word that is no part of a command that starts another one, such as sudo with its options."""
    wrapper, left = None, 0
    for word in words:
        if word in form.BEFORE_TOOLS or _SETTING.match(word):
            continue
        if wrapper is not None and word.startswith("-"):
            if len(word) == 2 and word[1] in wrapper[0]:
                next(words, None)
        elif left:
            left -= 1
        elif word.startswith("#!") or (entry := form.WRAPPERS.get(word.rpartition("/")[2])) is None:
            return word
        else:
            wrapper, left = entry, entry[1]
    return ""


def _shell_words(text: str) -> Iterator[str]:
    """The words up to the first sign that ends a command; quotes are taken off and nothing is expanded."""
    text = _REMARK.sub("", text)
    if _NO_COMMAND.match(text):
        return
    word: str | None = None
    at = 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None or part.lastindex is None:
            raise failed(text, at, f"“{text[at]}” that is never closed", form.EXPECTED["quote"])
        sort = _SORTS[part.lastindex - 1]
        at = part.end()
        if sort != "space" and not (sort == "escape" and part[0] == "\\\n"):
            word = (word or "") + _unquoted(sort, part[0])
        elif sort == "space" and word is not None:
            if word in form.COMMAND_ENDS:
                return
            yield word
            word = None
    if word is not None and word not in form.COMMAND_ENDS:
        yield word


def _unquoted(sort: str, part: str) -> str:
    if sort == "escape":
        return part[1:]
    if sort == "double":
        return _ESCAPED.sub(r"\1", part[1:-1])
    return part[1:-1] if sort == "single" else part


def _split(words: Sequence[str], with_value: set[str], own: int) -> tuple[list[tuple[str, str | None]], list[str]]:
    """Options, as getopt_long(3) reads them, and other words; all behind `--`, or so many words, are others."""
    options: list[tuple[str, str | None]] = []
    others: list[str] = []
    waiting = iter(words)
    for word in waiting:
        if word == "--":
            others += waiting
        elif word.startswith("--"):
            name, given, value = word[2:].partition("=")
            options.append((name, value if given else next(waiting, None) if name in with_value else None))
        elif word.startswith("-") and len(word) > 1:
            options += _short(word[1:], with_value, waiting)
        else:
            others.append(word)
            if len(others) > own and word != "record":  # perf has subcommands of that name below two others
                others += waiting
    return options, others


def _short(letters: str, with_value: set[str], waiting: Iterator[str]) -> Iterator[tuple[str, str | None]]:
    """One word of options of a letter each; the first that takes a value takes the rest, or the next word."""
    for at, letter in enumerate(letters):
        if letter in with_value:
            yield letter, letters[at + 1 :] or next(waiting, None)
            return
        yield letter, None


def read_command(text: str, command: ToolCommand) -> Script:
    """The script that a command line of a tool amounts to.

    Raises: ScriptError for a subcommand that does not trace, or that we do not read.
    """
    read = {"perf": _perf, "py-spy": _py_spy, "strace": _strace, "trace-cmd": _trace_cmd}[command.tool]
    name = f"{command.tool} {command.words[0]}" if command.words else command.tool
    unread = form.UNREAD.get(name, form.UNREAD[command.tool])
    written = [_written(*option) for option in command.options]
    unknown = tuple(shortened(option) for option in written if re.match(unread, option))
    probes = tuple(replace(probe, unknown=unknown) for probe in read(text, command))
    costly = form.COSTLY.get(f"{command.tool} -p" if command.pid else "", form.COSTLY[command.tool])
    options = tuple(option for option, (own, _) in zip(written, command.options, strict=True) if own in costly)
    pid = next(iter(command.all("P")), None) if command.tool == "trace-cmd" else command.pid
    return Script(
        language=command.language, tracer=_tracer(command), text=text, probes=probes, pid_filter=pid, options=options
    )


def _tracer(command: ToolCommand) -> str:
    """Words behind the subcommand are those of the program that is traced, and decide nothing."""
    follows = command.has("f", "follow-forks") and command.pid is None
    if command.tool == "strace" and follows and command.has("seccomp-bpf"):
        return "strace-seccomp"
    return form.TRACERS[f"perf {command.words[0]}" if command.tool == "perf" else command.language]


def _written(name: str, value: str | None) -> str:
    dashes = "-" if len(name) == 1 else "--"
    return f"{dashes}{name}" + ("" if value is None else f" {value}")


def _listed(values: Iterable[str]) -> Iterator[str]:
    return (name for value in values for name in re.sub(r"[{}]", "", value).split(",") if name)


def _perf(text: str, command: ToolCommand) -> Iterator[ScriptProbe]:
    subcommand = command.words[0] if command.words else ""
    if subcommand == "trace":
        return _perf_trace(command)
    if subcommand == "probe":
        return _perf_probe(text, command)
    if subcommand in {"record", "top", "stat"}:
        return _perf_events(subcommand, command)
    actual = f"“perf {shortened(subcommand)}”"
    raise failed(text, 0, actual, form.EXPECTED["perf"])


def _perf_events(subcommand: str, command: ToolCommand) -> Iterator[ScriptProbe]:
    action = form.COUNT if subcommand == "stat" else _record_action(command)
    is_sampled = subcommand != "stat" and not command.has("c", "count")
    (last,) = command.all("c", "count")[-1:] or ("1",)
    period = _number(last) or 1  # of so many events one is recorded
    usual = form.USUAL_EVENTS if subcommand == "stat" else ["cycles"]
    named = (match[0] for value in command.all("e", "event") for match in _EVENTS.finditer(re.sub(r"[{}]", "", value)))
    for event in [name for name in named if name] or usual:
        kind = _perf_kind(event, is_sampled=is_sampled)
        hz = _sampled_hz(command, "F", "freq") if kind == "profile" else None
        # Of a tracepoint or a probe perf fills its buffer at each event, before it looks at the period.
        is_counter = kind in {"hardware", "software"} and event.partition(":")[0] not in form.CLOCKS
        every = period if is_counter else 1
        has_filter = command.has("filter")
        yield ScriptProbe(attach=event, kind=kind, actions=(action,), has_filter=has_filter, hz=hz, every=every)


def _sampled_hz(command: ToolCommand, *names: str) -> float | None:
    """Samples per second, by the option or as usual; None for perf's `-F max`, which is the system's limit."""
    (last,) = command.all(*names)[-1:] or (str(form.USUAL_HZ[command.tool]),)
    return float(_number(last) or 0) or None


def _number(word: str) -> int | None:
    """The number of an option, of its first nine digits where it has more; None for any other word."""
    return int(word[:9]) if word.isascii() and word.isdigit() else None


def _record_action(command: ToolCommand) -> str:
    how, _, size = next(iter(command.all("call-graph")[-1:]), "").partition(",")
    if how == "dwarf":
        return "record-large-stack-copy" if (_number(size) or 0) > form.COPIED else "record-stack-copy"
    if command.has("g", "call-graph"):
        return "record-stack"
    pages = next(iter(command.all("m", "mmap-pages")), "").split(",")[0]
    return "record-large-buffer" if (_number(pages) or 0) >= form.LARGE_PAGES else "record"


def _perf_kind(event: str, *, is_sampled: bool) -> str:
    group, _, name = event.partition(":")
    if not name or re.match(form.MODIFIERS, name):
        if is_sampled and (group in form.CLOCKS or group not in form.SOFTWARE):
            return "profile"
        return "software" if group in form.SOFTWARE else "hardware"
    return tracepoint_kind(event)


def _perf_trace(command: ToolCommand) -> Iterator[ScriptProbe]:
    action = form.BY_NAME if command.has("s", "summary") else form.PRINT
    has_filter = command.has("filter")
    for event in list(_listed(command.all("e", "event", "expr"))) or ["all"]:
        kind = tracepoint_kind(event) if ":" in event else "system-call"
        yield ScriptProbe(attach=event, kind=kind, actions=(action,), has_filter=has_filter)


def _perf_probe(text: str, command: ToolCommand) -> Iterator[ScriptProbe]:
    words = command.words[1:]
    is_named, begins = command.has("x", "exec"), bool(words) and words[0].startswith("/")
    in_file = is_named or begins
    wanted = [*command.all("a", "add"), *(words[1:2] if begins and not is_named else words[:1])]
    if not wanted:
        raise failed(text, 0, *form.FAULTS["perf-probe"])
    where = "u" if in_file else "k"
    for definition in wanted:
        first = definition.split(" ", 1)[0]
        name = first.partition("=")[2] or first
        kind = f"{where}{'ret' if name.endswith('%return') else ''}probe"
        yield ScriptProbe(attach=name, kind=kind, actions=(form.NOTHING,))


def _py_spy(text: str, command: ToolCommand) -> Iterator[ScriptProbe]:
    """The clock by which it reads stacks; a dump reads one, which is one in its second."""
    subcommand, *traced = command.words or [""]
    is_dump, is_running = subcommand == "dump", command.has("nonblocking")
    if not is_dump and subcommand not in {"record", "top"}:
        raise failed(text, 0, f"“py-spy {shortened(subcommand)}”", form.EXPECTED["py-spy"])
    if not traced and command.pid is None:
        raise failed(text, 0, *form.FAULTS["py-spy"])
    how = "-native" if command.has("n", "native") else "-running" if is_running else "-once" if is_dump else ""
    hz = 1.0 if is_dump else _sampled_hz(command, "r", "rate")
    yield ScriptProbe(attach="sample", kind="profile", actions=(f"record-stack{how}",), hz=hz)


def _strace(text: str, command: ToolCommand) -> Iterator[ScriptProbe]:
    if not command.words and command.pid is None:
        raise failed(text, 0, *form.FAULTS["strace"])
    has_filter = command.has("P", "trace-path")
    action = form.BY_NAME if command.has("c", "summary-only") and not command.has("C", "summary") else form.PRINT
    # Without a filter of the kernel's the process stops at every call, shown or not (strace(1), --seccomp-bpf).
    is_filtered = _tracer(command) == "strace-seccomp"
    shown = shown_calls(_written(*option) for option in command.options) if is_filtered else ""
    for name in list(_listed([shown])) or ["all"]:
        yield ScriptProbe(attach=name, kind="system-call", actions=(action,), has_filter=has_filter)


def _trace_cmd(text: str, command: ToolCommand) -> Iterator[ScriptProbe]:
    if not command.words or command.words[0] not in {"record", "start", "stream", "profile", "set"}:
        actual = f"“trace-cmd {shortened(command.words[0])}”" if command.words else "no subcommand"
        raise failed(text, 0, actual, form.EXPECTED["trace-cmd"])
    action = "record-stack" if command.has("T") else "record"
    events = command.all("e")
    for event in events:
        attach = event.replace("/", ":") if ":" in event or "/" in event else f"{'*' if event == 'all' else event}:*"
        yield ScriptProbe(attach=attach, kind=tracepoint_kind(attach), actions=(action,), has_filter=command.has("f"))
    plugins = command.all("p")
    for plugin in plugins:
        for function in command.all("l", "g") or ["*"]:
            kind = form.PLUGINS.get(plugin, "unknown")
            yield ScriptProbe(attach=function, kind=kind, actions=(action,))
    if not events and not plugins:
        raise failed(text, 0, *form.FAULTS["trace-cmd"])
