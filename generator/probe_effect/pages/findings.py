"""What the page of a machine, and the list of machines, begin with: what a probe costs there, and against others.

Every difference is a comparison of one case with one tracer, and its words come from `pages/comparison.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.answer.first_instruction import mechanism_of
from probe_effect.compare.comparison import compare
from probe_effect.numbers.home import FIRST_SUITE
from probe_effect.pages import comparison, wording

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.reduce.submission import Number

ASKED = (
    ("a tracepoint on a system call", "tracepoint-entry", None),
    ("a user probe whose first instruction is emulated", "uprobe", "emulated"),
    ("a user probe whose first instruction is stepped", "uprobe", "stepped"),
)
"""What readers ask of a machine first: in words, the kind of probe, and how the kernel gets past its instruction."""

ACTIONS = ("nothing", "count")
TRACERS = ("bpftrace", "libbpf")
"""Whose costs these are; the first that has one."""


BRIEFLY = {
    ASKED[0][0]: "tracepoint",
    ASKED[1][0]: "user probe, emulated",
    ASKED[2][0]: "user probe, stepped",
}
"""The same, where there is room for a few words: on a badge, in a picture."""


def of_machine(machine: str, catalogue: Catalogue) -> list[tuple[str, Number, str, str]]:
    """Each kind of probe in words, its cost there, what that is against the others of its tier, and its place."""
    return [(words, one, against(one, catalogue), place(one, catalogue)) for words, one in asked(machine, catalogue)]


def briefly(machine: str, catalogue: Catalogue) -> list[tuple[str, str]]:
    """The same in a few words, and the cost without its interval, which the page has."""
    found = asked(machine, catalogue)
    return [(BRIEFLY[words], units.interval(one.cost, units.DURATION).partition(" (")[0]) for words, one in found]


def asked(machine: str, catalogue: Catalogue) -> list[tuple[str, Number]]:
    """Each kind of probe in words with the number that stands for it there; without a clear cost it is left out."""
    known = [one for one in catalogue.numbers.of_machine(machine).values() if one.threshold(5) is not None]
    found = ((words, _of_kind(known, catalogue, probe, mechanism)) for words, probe, mechanism in ASKED)
    return [(words, one) for words, one in found if one is not None]


def against(one: Number, catalogue: Catalogue) -> str:
    """How often the cost is higher or lower there than on another machine of the tier; nothing where there is none."""
    tier = wording.tier(one.submission.document)
    compared = [compare(other, one) for other in _of_others(one, catalogue)]
    return comparison.summary(compared, "here", f" with another {tier}") if compared else ""


def place(one: Number, catalogue: Catalogue) -> str:
    """Its place among the machines of its tier, as far as intervals part them; nothing where it is alone."""
    return comparison.place_among(one, _of_others(one, catalogue))


def _of_others(one: Number, catalogue: Catalogue) -> list[Number]:
    """The same case, tracer and level on the other machines of the tier."""
    tier = wording.tier(one.submission.document)
    return [
        other
        for other in catalogue.numbers.of_case(one.case)
        if (other.tracer, other.level) == (one.tracer, one.level)
        and other.submission.machine != one.submission.machine
        and other.is_sound
        and wording.tier(other.submission.document) == tier
    ]


def extremes(catalogue: Catalogue) -> list[str]:
    """Of each kind of probe the lowest cost of any machine against the highest of one of the same tier."""
    found = []
    for _, probe, mechanism in ASKED:
        every = [
            one
            for machine in catalogue.numbers.machines()
            if (one := _of_kind(_sound(machine, catalogue), catalogue, probe, mechanism))
        ]
        groups: dict[tuple[str, str, str], list[Number]] = {}
        for one in every:
            groups.setdefault((one.case, one.tracer, wording.tier(one.submission.document)), []).append(one)
        several = max(groups.values(), key=len, default=[])
        if len(several) > 1:
            least, *_, most = sorted(several, key=lambda one: one.known_cost.value)
            found.append(comparison.between_machines(compare(least, most)))
    return found


def _sound(machine: str, catalogue: Catalogue) -> Sequence[Number]:
    return [one for one in catalogue.numbers.of_machine(machine).values() if one.threshold(5) is not None]


def _of_kind(known: Iterable[Number], catalogue: Catalogue, probe: str, mechanism: str | None) -> Number | None:
    """Of the numbers of a machine the one of a plain case of that kind; of several cases the first."""
    cases = {
        case.id: case
        for folder in sorted(catalogue.suites, key=lambda folder: folder.suite.id != FIRST_SUITE)
        for case in folder.suite.cases
        if case.probe == probe and case.action in ACTIONS and not case.like and case.counted_by != "nothing"
    }
    order = list(cases)
    fitting = [
        one
        for one in known
        if one.level is None
        and one.tracer in TRACERS
        and one.case in cases
        and mechanism in (None, mechanism_of(cases[one.case], one))
    ]
    return min(fitting, key=lambda one: (TRACERS.index(one.tracer), order.index(one.case)), default=None)
