"""Which model makes the best times of counted instructions: each leaves out one kind of probe at a time.

Every model has the same cases: those with a count and a time, on each machine that has enough of them. A case is
estimated from all cases of its machine of other kinds of probe, and no model is judged by how well it fits.

Usage: PYTHONPATH=tests .venv/bin/python -m evidence.from_counts [--write] (`--write` puts them into the method).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

import click
import numpy as np

from evidence.method_tables import PROJECT
from evidence.method_tables import write as write_tables
from probe_effect import units
from probe_effect.costs import from_counts
from probe_effect.costs.evidence import evidence_of
from probe_effect.costs.instructions import classes_of, recorded
from probe_effect.model import series_of
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.numbers.shown import facts_of_submission
from probe_effect.store.places import DataFolder
from probe_effect.store.result_tables import Classes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from probe_effect.costs.evidence import Evidence


NEAR, NEARER = 1.5, 1.25
CALL = from_counts.CALL_INSTRUCTIONS
SLOW = 20
"""An atomic instruction in plain ones: 19 cycles on Alder Lake (https://uops.info/html-instr/CMPXCHG_LOCK_M64_R64.html);
one that masks interrupts or exchanges the base of `gs` is taken as the same."""
FEWEST = 10
"""Cases of a kind of probe that has a row; fewer are in the rows of all alone."""

CALLS: tuple[float, ...] = (0, 5, 10, 20, 40, 80, 160)
RETPOLINES = "Retpolines"


class Point(NamedTuple):
    """A case with a count and a time."""

    machine: str
    kind: str
    prints: bool
    guarded: bool
    of: Classes
    breakpoints: int
    steps: int
    measured_ns: float


Terms = tuple[float, ...]


def _with(calls: float, faults: float = 1.0, **each: float) -> Callable[[Point], Terms]:
    """Instructions with so many more for each of a class, exceptions with so much of each fault, and steps."""

    def terms(one: Point) -> Terms:
        more = calls * (one.of.indirect + one.of.returns) + sum(each[name] * getattr(one.of, name) for name in each)
        return one.of.instructions + more, one.breakpoints + faults * one.of.traps, one.steps

    return terms


def _by_guard(one: Point) -> Terms:
    return _with(2 * CALL if one.guarded else CALL / 2)(one)


def _calls_free(one: Point) -> Terms:
    calls = one.of.indirect + one.of.returns
    return one.of.instructions - calls, one.breakpoints + one.of.traps, one.steps, calls


MODELS: dict[str, Callable[[Point], Terms]] = {
    "instructions, breakpoints, steps (before)": _with(0, 0),
    "faults as breakpoints": _with(0),
    "faults as breakpoints, and no repetitions": _with(0, repetitions=-1),
    "faults, and a free time for calls and returns": _calls_free,
    f"faults, and {CALL // 2} instructions more for a call or return": _with(CALL / 2),
    f"faults, and {CALL} more (now)": _with(CALL),
    f"faults, and {2 * CALL} more": _with(2 * CALL),
    f"faults, and {2 * CALL} more where retpolines guard calls, {CALL // 2} elsewhere": _by_guard,
    f"the same with {CALL}, and no repetitions": _with(CALL, repetitions=-1),
    f"the same with {CALL}, and {SLOW} for an atomic one": _with(CALL, atomics=SLOW),
    f"the same with {CALL}, and {SLOW} for a switch of flags": _with(CALL, flags=SLOW),
}


def points(found: Evidence) -> Iterator[Point]:
    """Of each machine with a model, its cases; those that print too."""
    known = list(recorded(found))
    for machine in found.machines:
        with patch.object(from_counts, "UNTIMED_ACTIONS", set()):
            every = list(from_counts.calibrations(found, machine, known))
        if len(every) < from_counts.FEWEST_POINTS:
            continue
        for one in every:
            case, event = found.case_of[one.timed.case], one.counted
            of, name = Classes(*classes_of(known, case, event.number)), names.machine_name(one.timed.submission)
            ns = one.timed.known_cost.value
            guarded = facts_of_submission(one.timed.submission).branches == RETPOLINES
            prints = case.action == "print"
            yield Point(name, event.kind, prints, guarded, of, event.breakpoints, event.steps, ns)


def left_out(some: Sequence[Point], terms_of: Callable[[Point], Terms]) -> Iterator[tuple[Point, float]]:
    """Each point with its measured over its estimated time, from the other kinds of probe on its machine."""
    for machine, kind in sorted({(one.machine, one.kind) for one in some}):
        of = [one for one in some if one.machine == machine]
        others = [one for one in of if one.kind != kind]
        times = from_counts.fitted(
            np.array([terms_of(one) for one in others], dtype=float), np.array([one.measured_ns for one in others])
        )
        for one in of:
            terms = np.array(terms_of(one))
            if one.kind == kind and not np.any((terms > 0) & (times <= from_counts.LEAST_TERM_NS)):
                yield one, one.measured_ns / float(terms @ times)


def _cells(ratios: Sequence[float]) -> list[str]:
    factors = np.maximum(ratios, 1 / np.array(ratios))
    shares = (units.percent(float(np.mean(factors <= most))) for most in (NEARER, NEAR))
    return [str(len(ratios)), *shares, f"{min(ratios):.2f} to {max(ratios):.2f}"]


def _row(name: str, found: Sequence[tuple[Point, float]]) -> str:
    plain = [ratio for one, ratio in found if not one.breakpoints]
    return f"| {' | '.join([name, *_cells([ratio for _, ratio in found]), *_cells(plain)[1:]])} |"


def tables(own: Evidence, newest: Evidence) -> Iterator[str]:
    """Every model over all machines; then that before and that of now, for each kind of probe and each machine."""
    every = list(points(own))
    some = [one for one in every if not one.prints]
    before, now = (list(left_out(some, terms_of)) for terms_of in (_with(0, 0), _with(CALL)))
    yield "| Model | Cases | within 1.25 | within 1.5 | ratios | without exception: within 1.25 | within 1.5 | ratios |"
    yield f"|:--|{'--:|' * 7}"
    yield _row("before, and with events that print", list(left_out(every, _with(0, 0))))
    for name, terms_of in MODELS.items():
        yield _row(name, list(left_out(some, terms_of)))
    yield _row("faults, and as many more as are best on all other machines", list(_chosen_elsewhere(some)))
    with patch.object(from_counts, "release_distance", lambda _, other: tuple(-part for part in series_of(other))):
        newer = [one for one in points(newest) if not one.prints]
    yield _row("now, and counts of the newest kernel for all machines", list(left_out(newer, _with(CALL))))
    yield ""
    yield "| | Cases | before: within 1.25 | within 1.5 | ratios | now: within 1.25 | within 1.5 | ratios |"
    yield f"|:--|{'--:|' * 7}"
    for name, was in _grouped(before).items():
        if len(was) < FEWEST:
            continue
        yield f"| {' | '.join([name, *_cells(was), *_cells(_grouped(now)[name])[1:]])} |"
    yield ""
    yield from _free_ratios(some)


def _chosen_elsewhere(some: Sequence[Point]) -> Iterator[tuple[Point, float]]:
    """The ratios of each machine, with the instructions for a call that err least on the others."""
    of = {calls: list(left_out(some, _with(calls))) for calls in CALLS}
    for machine in sorted({one.machine for one in some}):

        def error(calls: float, own: str = machine) -> float:
            return float(np.mean([np.log(ratio) ** 2 for one, ratio in of[calls] if one.machine != own]))

        yield from (pair for pair in of[min(CALLS, key=error)] if pair[0].machine == machine)


def _free_ratios(some: Sequence[Point]) -> Iterator[str]:
    """As many instructions as take the time of a call or return, where both times are fitted to all cases."""
    of: dict[tuple[bool, str], float] = {}
    for machine in {one.machine for one in some}:
        own = [one for one in some if one.machine == machine]
        times = from_counts.fitted(np.array(list(map(_calls_free, own))), np.array([one.measured_ns for one in own]))
        of[own[0].guarded, machine] = times[-1] / times[0]
    for guarded, where in ((True, "with retpolines"), (False, "without")):
        each = sorted(ratio for (own, _), ratio in of.items() if own == guarded)
        yield f"Times of calls and returns, fitted on their own, in instructions, {where}: " + ", ".join(
            f"{one:.0f}" for one in each
        )


def _grouped(found: Sequence[tuple[Point, float]]) -> Mapping[str, list[float]]:
    of: dict[str, list[float]] = defaultdict(list)
    for one, ratio in sorted(found, key=lambda pair: pair[0].kind):
        of[one.kind].append(ratio)
    for one, ratio in found:
        of[one.machine].append(ratio)
    return of


@click.command()
@click.option("--write", is_flag=True, help="Put the tables into the method.")
def main(*, write: bool) -> None:
    """Print how near the times of left out cases are to each model's estimates."""
    own, newest = (evidence_of(read_catalogue(DataFolder(PROJECT / "data"))) for _ in range(2))
    text = "\n".join(tables(own, newest))
    print(text)
    if write:
        write_tables("from-counts", text)


if __name__ == "__main__":
    main()
