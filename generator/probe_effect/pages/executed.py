"""What one event executes, as pages show it: a table of functions, a drawing of who calls whom, and sentences."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from probe_effect import units
from probe_effect.compare.paths import OTHER, AddedPath, differences, paths_of, plain, purpose_of
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.further_tables import Classes, Stack

MOST_FUNCTIONS = 24
"""Rows of a table of functions; the others are one row, and whole in the CSV."""

MOST_NAMED = 5
"""Functions by which a change is explained."""

LEAST_WIDTH = 0.3
"""A box narrower than that, in per cent of the drawing, is left out."""

PACKAGED = re.compile(r" (\d+\.\d+(?:\.\d+)?)-")
"""The release of the kernel in the name of its package: `linux-image-6.1.0-50-amd64 6.1.176-1 (bookworm)`."""


class FunctionRow(NamedTuple):
    """A function in the table: where its source is, and what it is for; `source` is None where it has none."""

    name: str
    instructions: str
    share: str
    purpose: str
    source: str | None


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


def sentence(path: AddedPath) -> str:
    """What most of the instructions are for: `Of 338 instructions that an event adds: 62 % kprobe and ftrace; ..`."""
    whole = path.total.instructions
    if whole <= 0:
        return "An event adds no instructions"
    parts = [(name, one.instructions) for name, one in path.by_purpose().items() if one.instructions > 0]
    named = [f"{units.percent(own / whole)} {name}" for name, own in parts[:MOST_NAMED] if name != OTHER]
    return f"Of {whole} instructions that an event adds: {'; '.join(named)}"


def kinds(path: AddedPath) -> str:
    """What a count hides, as far as there is any: `2 returns from a trap, 12 indirect calls or jumps`."""
    total = path.total
    found = (
        (total.traps, "return{s} from a trap"),
        (total.indirect, "indirect call{s} or jump{s}"),
        (total.returns, "return{s}"),
        (total.atomics, "atomic instruction{s}"),
        (total.flags, "that mask{v} interrupts or change{v} gs"),
        (total.repetitions, "repetition{s} of a string instruction, of which hardware retires none"),
    )
    said = (
        (number, words.format(s="" if number == 1 else "s", v="s" if number == 1 else "")) for number, words in found
    )
    return ", ".join(f"{number} {words}" for number, words in said if number > 0)


def rows(path: AddedPath, submission: Submission) -> list[FunctionRow]:
    """The functions that execute most, and one row of the others."""
    whole, found = path.total.instructions, list(path.by_function().items())
    base, rest = source_of(submission), found[MOST_FUNCTIONS:]
    made = [
        FunctionRow(name, _signed(one), _share(one, whole), purpose_of(name), _source(base, name))
        for name, one in found[:MOST_FUNCTIONS]
    ]
    if rest:
        others = Classes(*map(sum, zip(*(one for _, one in rest), strict=True)))
        made.append(FunctionRow(f"{len(rest)} others", _signed(others), _share(others, whole), "", None))
    return made


def source_of(submission: Submission) -> str | None:
    """The address at which that release's source tells where a function is; None where its release is not known."""
    found = PACKAGED.search(submission.document.run.packages.get("kernel", ""))
    return f"https://elixir.bootlin.com/linux/v{found[1]}/A/ident/" if found else None


def _source(base: str | None, name: str) -> str | None:
    return f"{base}{name}" if base and re.fullmatch(r"\w+", name, re.ASCII) else None


def _signed(one: Classes) -> str:
    return str(one.instructions).replace("-", "−")


def _share(one: Classes, whole: int) -> str:
    return units.percent(one.instructions / whole) if whole > 0 and one.instructions > 0 else ""


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
    """The drawing: its boxes, and how deep they go.

    Callers are above what they call. Those above the first that adds something of its own, or calls two, are left out;
    what an event executes less is in the table alone.
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
    own = {stack: max(0, one.instructions) for stack, one in stacks.items()}
    known = dict.fromkeys(stack[:depth] for stack in ((), *own) for depth in range(len(stack) + 1))
    below = dict.fromkeys(known, 0)
    for stack, number in own.items():
        for depth in range(len(stack) + 1):
            below[stack[:depth]] += number
    return {stack: (own.get(stack, 0), below[stack]) for stack in known if below[stack]} or {(): (0, 0)}


def _children(tree: Mapping[Stack, tuple[int, int]], top: Stack) -> list[Stack]:
    return [one for one in tree if len(one) == len(top) + 1 and one[: len(top)] == top]


def _placed(
    tree: Mapping[Stack, tuple[int, int]], stack: Stack, above: int, left: float, scale: float
) -> Iterator[Box]:
    own, below = tree[stack]
    width = below * scale
    if width < LEAST_WIDTH:
        return
    name = plain(stack[-1]) if stack else "event"
    said = f"{name}: {below} instructions" + (f", {own} of them its own" if own < below else "")
    place = "program" if purpose_of(name) == "the program" else "kernel"
    yield Box(len(stack) - above, round(left, 2), round(width, 2), name, place, said)
    for child in _children(tree, stack):
        yield from _placed(tree, child, above, left, scale)
        left += tree[child][1] * scale


def functions(first: Number, second: Number) -> dict[str, tuple[int, int]]:
    """The functions of which two numbers do not execute the same; none where the events of one were not recorded."""
    before, after = executed_of(first), executed_of(second)
    return differences(before, after) if before and after else {}


def changed(first: Number, second: Number) -> str:
    """The functions that differ most, with their difference; empty where there are none."""
    found = list(functions(first, second).items())[:MOST_NAMED]
    return ", ".join(f"{name} {now - was:+}".replace("-", "−") for name, (was, now) in found)
