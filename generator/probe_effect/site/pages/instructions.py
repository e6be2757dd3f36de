"""Instructions per event in words, and what one event executes: a table of functions, a drawing, and sentences.

Cells, flags and sentences on changes say more or fewer, never a time.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from probe_effect import units
from probe_effect.compare import comparison
from probe_effect.compare.comparison import REPEATABILITY_LIMIT_RATIO, Comparison
from probe_effect.compare.kernels import column_of
from probe_effect.costs.instructions import OTHER, AddedPath, differences, paths_of, plain, purpose_of
from probe_effect.model import Estimate
from probe_effect.numbers.names import at_level, quoted
from probe_effect.numbers.submission import Number, Submission
from probe_effect.records import beside
from probe_effect.site.pages.parts import Link, Table, columns
from probe_effect.store.result_tables import Classes, Stack, summed
from probe_effect.store.suite_file import Suite

FLAG = "†"


def count(estimate: Estimate | None) -> str:
    """Instructions, with the range of the runs where it shows."""
    return units.spread(estimate, units.INSTRUCTIONS)


def added(case: Number) -> str:
    """The count of a case with its range, and a flag if it is neither ranked nor compared; else how its runs ended."""
    return _flagged(case, count(case.cost))


def cell(number: Number | None) -> str:
    """A count in a table of many, in whole instructions; empty where nobody ran it."""
    return "" if number is None else _flagged(number, _whole(number.cost))


CERTAIN = {"bisected": "Bisected", "read": "Read in the source", "inferred": "Inferred", "unknown": "Cause unknown"}
MADE = {"trap": "by a trap", "jump": "by a jump in its place", "ftrace": "by a call of ftrace"}
"""How sure a cause is, and how the kernel makes a kprobe."""


def made(number: Number | None) -> str:
    """A count in a table of many, with how the kernel made the kprobes of the case."""
    mechanism = number.count.mechanism if number is not None else None
    return f"{cell(number)}, {mechanism}" if mechanism else cell(number)


LIMIT = units.stated(REPEATABILITY_LIMIT_RATIO, units.SHARE)  # the change from which on two counts differ


def share(case: Number) -> str:
    return units.percent(case.added_ratio)


def change(pair: Comparison) -> str:
    """`+120 %` or `−31 %`, of the first; missing where the first is not above 0."""
    return f"{'+' if (pair.change_ratio or 0) > 0 else ''}{units.percent(pair.change_ratio)}"


def counts(pair: Comparison) -> tuple[str, str]:
    return _whole(pair.first.cost), _whole(pair.second.cost)


def between_kernels(pair: Comparison, kernels: Mapping[str, str]) -> str:
    first, second = (kernels[column_of(number).kernel] for number in (pair.first, pair.second))
    return f"From {first} to {second}, {subject(pair.second)} with {tracer(pair.second)} takes {_more(pair)}."


def between_versions(pair: Comparison, kernels: Mapping[str, str]) -> str:
    start = f"From {tracer(pair.first)} to {tracer(pair.second)}"
    return f"{start}, on {kernels[column_of(pair.second).kernel]}, {subject(pair.second)} takes {_more(pair)}."


def words_of_outcomes() -> dict[str, object]:
    words: dict[str, Any] = beside(__file__, "outcomes")["instructions"]
    return words | {
        "limit_ratio": REPEATABILITY_LIMIT_RATIO,
        "untraced_limit_ratio": comparison.UNTRACED_LIMIT_RATIO,
        "another_architecture": comparison.ANOTHER_ARCHITECTURE,
    }


def listed(words: Iterable[str]) -> str:
    """At least one word: `a`, `a and b`, `a, b and c`."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def said_of(suite: Suite, words: str) -> str:
    """The title of a suite, and what is said of it: a title may be a question, which no colon follows."""
    return f"{suite.title} {words[:1].upper()}{words[1:]}" if suite.title.endswith("?") else f"{suite.title}: {words}"


def subject(number: Number) -> str:
    return f"{quoted(number.title)}{at_level(number.level)}"


def tracer(number: Number) -> str:
    return short(column_of(number).tracer)


def short(name: str) -> str:
    """A tracer's name without the compiler that made it, which is on the page of its machine."""
    return name.partition(",")[0]


def _more(pair: Comparison) -> str:
    word = "more" if pair.difference.value > 0 else "fewer"
    share = "" if pair.change_ratio is None else f"{units.percent(abs(pair.change_ratio))} "
    return f"{share}{word} instructions ({' to '.join(counts(pair))})"


def _flagged(case: Number, written: str) -> str:
    if case.cost is None:
        return case.status
    return f"{written} {FLAG}" if case.faults else written


def _whole(estimate: Estimate | None) -> str:
    return units.count(estimate.value if estimate else None)


MOST_FUNCTIONS = 24  # rows of a table of functions; the others are one row, and whole in the CSV
MOST_NAMED = 5  # functions by which a change is explained
LEAST_WIDTH = 0.3  # a box narrower than that, in per cent of the drawing, is left out

PACKAGED = re.compile(r" (\d+\.\d+(?:\.\d+)?)-")
"""The release of the kernel in the name of its package: `linux-image-6.1.0-50-amd64 6.1.176-1 (bookworm)`."""


class Box(NamedTuple):
    """A function in the drawing: left edge and width are in per cent; `said` is what a pointer shows."""

    depth: int
    left: float
    width: float
    name: str
    place: str
    said: str


def executed_of(number: Number) -> AddedPath | None:
    """What an event of the number executes more; None where that was not recorded."""
    return paths_of(number.submission).get(number.key)


def sentence(path: AddedPath, events: float = 1) -> str:
    """What most of the instructions are for: `Of 338 instructions that an event adds: 62 % kprobe and ftrace; ..`.

    A path is that of an operation, with all its `events`.
    """
    whole = path.total.instructions
    if whole <= 0:
        return "An event adds no instructions"
    parts = [(name, classes.instructions) for name, classes in path.by_purpose().items() if classes.instructions > 0]
    named = [f"{units.percent(own / whole)} {name}" for name, own in parts[:MOST_NAMED] if name != OTHER]
    added = "an event adds" if events == 1 else f"the {units.trimmed(events)} events of an operation add"
    return f"Of {units.count(whole)} instructions that {added}: {'; '.join(named)}"


def kinds(path: AddedPath) -> str:
    """What a count hides, as far as there is any: `2 returns from a trap, 12 indirect calls or jumps`."""
    total = path.total
    classes = (
        (total.traps, "return{s} from a trap"),
        (total.indirect, "indirect call{s} or jump{s}"),
        (total.returns, "return{s}"),
        (total.atomics, "atomic instruction{s}"),
        (total.flags, "that mask{v} interrupts or change{v} gs"),
        (total.repetitions, "repetition{s} of a string instruction, of which hardware retires none"),
    )
    endings = {True: {"s": "", "v": "s"}, False: {"s": "s", "v": ""}}
    return ", ".join(f"{number} {words.format(**endings[number == 1])}" for number, words in classes if number > 0)


def table(path: AddedPath, submission: Submission) -> Table:
    """The functions that execute most, each with its source and what it is for, and one row of the others."""
    whole, functions = path.total.instructions, list(path.by_function().items())
    release = PACKAGED.search(submission.document.run.packages.get("kernel", ""))
    base = f"https://elixir.bootlin.com/linux/v{release[1]}/A/ident/" if release else ""

    def row(name: object, classes: Classes, purpose: str) -> tuple[object, ...]:
        has_share = whole > 0 and classes.instructions > 0
        return name, signed(classes), units.percent(classes.instructions / whole) if has_share else "", purpose

    rows = []
    for name, classes in functions[:MOST_FUNCTIONS]:
        has_source = base and re.fullmatch(r"\w+", name, re.ASCII)
        rows.append(row(Link(name, base + name) if has_source else name, classes, purpose_of(name)))
    if rest := [classes for _, classes in functions[MOST_FUNCTIONS:]]:
        rows.append(row(f"{len(rest)} others", summed(rest), ""))
    return Table(columns("function", "function-instructions", "function-share", "purpose"), rows)


def signed(classes: Classes) -> str:
    return str(classes.instructions).replace("-", units.MINUS)


def agreement(path: AddedPath) -> list[str]:
    """How many events were alike, and how their sum agrees with the count of the same run."""
    event, sum_ = path.traced, path.traced.total.instructions
    beside = ", ".join(f"{name} {number:g}" for name, number in event.beside.items())
    return [
        f"{event.alike} of {event.recorded} recorded events are the same, to the instruction",
        f"such an event executes {sum_} in all, and the run {event.counted:.1f} an operation"
        + (f"; most of the rest: {beside}" if beside else ""),
    ]


def boxes(stacks: Mapping[Stack, Classes]) -> dict[str, object]:
    """The drawing: its boxes, callers above what they call, and how deep they go.

    Left out are callers above the first that adds something of its own, or calls two, and what an event executes less.
    """
    tree = _tree(stacks)
    top: Stack = ()
    while not tree[top][0] and len(children := _children(tree, top)) == 1:
        top = children[0]
    whole = tree[top][1]
    made = list(_placed(tree, top, len(top), 0.0, 100 / whole)) if whole else []
    return {"rows": 1 + max((box.depth for box in made), default=0), "boxes": made}


def _tree(stacks: Mapping[Stack, Classes]) -> dict[Stack, tuple[int, int]]:
    """Each stack with its own instructions and all below it, in the order of the event; the empty one is above all."""
    own = {stack: max(0, classes.instructions) for stack, classes in stacks.items()}
    below: Counter[Stack] = Counter({(): 0})
    for stack, number in own.items():
        for depth in range(len(stack) + 1):
            below[stack[:depth]] += number
    return {stack: (own.get(stack, 0), number) for stack, number in below.items() if number or not stack}


def _children(tree: Mapping[Stack, tuple[int, int]], top: Stack) -> list[Stack]:
    return [stack for stack in tree if len(stack) == len(top) + 1 and stack[: len(top)] == top]


def _placed(
    tree: Mapping[Stack, tuple[int, int]], stack: Stack, above: int, left: float, scale: float
) -> Iterator[Box]:
    own, below = tree[stack]
    width = below * scale
    if width < LEAST_WIDTH:
        return
    name = plain(stack[-1]) if stack else "event"
    caption = f"{name}: {units.count(below)} instructions"
    caption += f", {units.count(own)} of them its own" if own < below else ""
    owner = "program" if purpose_of(name) == "the program" else "kernel"
    yield Box(len(stack) - above, round(left, 2), round(width, 2), name, owner, caption)
    for child in _children(tree, stack):
        yield from _placed(tree, child, above, left, scale)
        left += tree[child][1] * scale


def functions(first: Number, second: Number) -> dict[str, tuple[int, int]]:
    """The functions of which two numbers do not execute the same; none where the events of one were not recorded."""
    before, after = executed_of(first), executed_of(second)
    return differences(before, after) if before and after else {}


def changed(first: Number, second: Number) -> str:
    """The functions that differ most, with their difference; empty where there are none."""
    most = list(functions(first, second).items())[:MOST_NAMED]
    return ", ".join(f"{name} {now - was:+}".replace("-", units.MINUS) for name, (was, now) in most)
