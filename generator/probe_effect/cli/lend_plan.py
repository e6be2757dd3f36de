"""What `lend` and `wanted` find out of this machine: its tracers, the suites that it can measure, and their order."""

import platform
from collections.abc import Collection
from pathlib import Path

from probe_effect.machine import collect
from probe_effect.measure.calibrate import QUICK, THOROUGH
from probe_effect.measure.request import Work, choose_suites, resolve
from probe_effect.numbers.catalogue import Catalogue, read_numbers
from probe_effect.numbers.likeness import facts_of
from probe_effect.numbers.shown import kind_of
from probe_effect.store.places import PACKAGED, DataFolder, submissions_in
from probe_effect.tracers.protocol import Tracer
from probe_effect.tracers.registry import known_tracers
from probe_effect.wanted.lacking import run_s
from probe_effect.wanted.order import SuiteTurn, by_want, new_here

USUAL_RUN_S = 0.8
"""Of a run with its tracer's start and end, in a suite that nobody has measured."""

LEAST_RUN_S = 0.2


def tracers_here() -> dict[str, Tracer]:
    """The tracers that this system may have: outside of Linux DTrace alone."""
    known = known_tracers()
    return known if platform.system() == "Linux" else {name: one for name, one in known.items() if one.tool == "dtrace"}


def works_here(data: DataFolder) -> list[Work]:
    """The suites that build no project, with what can be measured of each."""
    ready = {name: one for name, one in tracers_here().items() if one.available() is None}
    suites = choose_suites(data, [])
    return [resolve(folder, suite, ready, []) for folder, suite in suites if suite.workload.project is None]


def known_numbers(data: DataFolder, results: Path) -> Catalogue:
    """The numbers of the data, with those of the complete submissions in a folder of results. Raises: BadData.

    Where the data folder has no suites of its own, as outside of a checkout, the data are those of the program too.
    """
    given = data.submissions()
    if not (data.root / "suites").is_dir():
        given += DataFolder(PACKAGED).submissions()
    places = {one.id: one for one in (*given, *submissions_in(results)) if not one.plan_file.exists()}
    return read_numbers(data, list(places.values()))


def turns_here(catalogue: Catalogue, works: Collection[Work]) -> list[SuiteTurn]:
    """A turn for each suite of which anything can be measured, the most wanted first."""
    kind = kind_of(facts_of(collect.collect_machine(), ""))
    return by_want(_turn(catalogue, work, kind) for work in works if work.measured)


def _turn(catalogue: Catalogue, work: Work, kind: tuple[str, str, str]) -> SuiteTurn:
    cases = list(dict.fromkeys(subject.case for subject in work.measured))
    first, own = new_here(catalogue, kind, cases)
    runs = len(work.measured) + 2 * len(work.levels)
    usual_s = max(run_s(catalogue).get(work.suite.id, USUAL_RUN_S), LEAST_RUN_S)
    saved_s = (work.suite.workload.seconds or THOROUGH.traced_s) - QUICK.traced_s
    return SuiteTurn(
        suite=work.suite.id,
        cases=len(cases),
        first=first,
        own=own,
        block_s=runs * usual_s,
        quick_block_s=runs * max(usual_s - saved_s, LEAST_RUN_S),
    )
