"""Instructions per event in words: cells, flags, and the sentences on changes; more or fewer, never a time."""

from collections.abc import Mapping, Sequence
from typing import Any

from probe_effect import units
from probe_effect.compare.comparison import (
    ANOTHER_ARCHITECTURE,
    REPEATABILITY_LIMIT_RATIO,
    UNTRACED_LIMIT_RATIO,
    Comparison,
)
from probe_effect.compare.kernels import column_of
from probe_effect.model import Estimate
from probe_effect.numbers.names import at_level, quoted
from probe_effect.reduce.submission import Number
from probe_effect.store.suite_file import Suite
from probe_effect.toml import beside

FLAG = "†"


def count(found: Estimate | None) -> str:
    """Instructions, with the range of the runs where it shows."""
    return units.spread(found, units.INSTRUCTIONS)


def added(case: Number) -> str:
    """The count of a case with its range, and a flag if it is neither ranked nor compared; else how its runs ended."""
    return _flagged(case, count(case.cost))


def cell(one: Number | None) -> str:
    """A count in a table of many, in whole instructions; empty where nobody ran it."""
    return "" if one is None else _flagged(one, _whole(one.cost))


CERTAIN = {"bisected": "Bisected", "read": "Read in the source", "inferred": "Inferred", "unknown": "Cause unknown"}
"""How sure a cause is."""

MADE = {"trap": "by a trap", "jump": "by a jump in its place", "ftrace": "by a call of ftrace"}
"""How the kernel makes a kprobe."""


def made(one: Number | None) -> str:
    """A count in a table of many, with how the kernel made the kprobes of the case."""
    mechanism = one.count.mechanism if one is not None else None
    return f"{cell(one)}, {mechanism}" if mechanism else cell(one)


def share(case: Number) -> str:
    """The share of an untraced operation that an event adds, in per cent, as text."""
    return units.percent(case.added_ratio)


def limit() -> str:
    """The change from which on two counts differ, in per cent, as text."""
    return units.stated(REPEATABILITY_LIMIT_RATIO, units.SHARE)


def change(found: Comparison) -> str:
    """`+120 %` or `−31 %`, of the first; missing where the first is not above 0."""
    ratio = found.change_ratio
    text = units.percent(ratio)
    return f"+{text}" if ratio is not None and ratio > 0 else text


def counts(found: Comparison) -> tuple[str, str]:
    """The medians of both sides, in whole instructions."""
    return _whole(found.first.cost), _whole(found.second.cost)


def between_kernels(found: Comparison, kernels: Mapping[str, str]) -> str:
    """The change from one kernel to the next."""
    first, second = (kernels[column_of(one).kernel] for one in (found.first, found.second))
    return f"From {first} to {second}, {subject(found.second)} with {tracer(found.second)} takes {_more(found)}."


def between_versions(found: Comparison, kernels: Mapping[str, str]) -> str:
    """The change from one version of a tool to the next."""
    start = f"From {tracer(found.first)} to {tracer(found.second)}"
    return f"{start}, on {kernels[column_of(found.second).kernel]}, {subject(found.second)} takes {_more(found)}."


def words_of_outcomes() -> dict[str, object]:
    """The words for outcomes of compared counts, for the page that compares what its reader chooses."""
    words: dict[str, Any] = beside(__file__, "outcomes")["instructions"]
    return words | {
        "limit_ratio": REPEATABILITY_LIMIT_RATIO,
        "untraced_limit_ratio": UNTRACED_LIMIT_RATIO,
        "another_architecture": ANOTHER_ARCHITECTURE,
    }


def extent(found: Sequence[Comparison], what: str) -> str:
    """How many of the pairs of counts are a change."""
    clear = sum(one.is_clear for one in found)
    return f"{what}, {units.count(clear)} of {units.count(len(found))} pairs of counts differ by more than {limit()}."


def listed(words: Sequence[str]) -> str:
    """At least one word: `a`, `a and b`, `a, b and c`."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def said_of(suite: Suite, words: str) -> str:
    """The title of a suite, and what is said of it: a title may be a question, which no colon follows."""
    return f"{suite.title} {words[:1].upper()}{words[1:]}" if suite.title.endswith("?") else f"{suite.title}: {words}"


def subject(one: Number) -> str:
    """The case, with its level where it has one."""
    return f"{quoted(one.title)}{at_level(one.level)}"


def tracer(one: Number) -> str:
    """The tracer with its version."""
    return short(column_of(one).tracer)


def short(name: str) -> str:
    """A tracer's name without the compiler that made it, which is on the page of its machine."""
    return name.partition(",")[0]


def side(one: Number, kernels: Mapping[str, str]) -> str:
    """The tracer and the kernel of one side of a change."""
    column = column_of(one)
    return f"{column.tracer}, {kernels[column.kernel]}"


def _more(found: Comparison) -> str:
    word = "more" if found.difference.value > 0 else "fewer"
    ratio = found.change_ratio
    share = "" if ratio is None else f"{units.percent(abs(ratio))} "
    return f"{share}{word} instructions ({' to '.join(counts(found))})"


def _flagged(case: Number, written: str) -> str:
    if case.cost is None:
        return case.status
    return f"{written} {FLAG}" if case.faults else written


def _whole(found: Estimate | None) -> str:
    return units.count(found.value if found else None)
