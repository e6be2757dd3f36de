"""Runs that were cut short: which there are, and whether this machine can continue them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from probe_effect import __version__
from probe_effect.errors import BadData, HostNotReady, UsageError
from probe_effect.machine.collect import collect_machine, collect_system
from probe_effect.measure.request import Work
from probe_effect.measure.submission import OpenSubmission, moment
from probe_effect.store.machine_file import read_machine_file, write_machine_file
from probe_effect.store.places import Submission
from probe_effect.store.plan_file import read_plan_file
from probe_effect.tracers.registry import at_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from probe_effect.store.machine_file import MachineFile
    from probe_effect.store.plan_file import PlanFile
    from probe_effect.store.suite_file import Suite
    from probe_effect.tracers.protocol import Tracer


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run that was cut short."""

    place: Submission
    document: MachineFile
    plan: PlanFile


def unfinished(results: Path, suites: Collection[str]) -> list[Unfinished]:
    """The newest unfinished run of this machine for each suite; `suites` empty means all.

    Raises: UsageError when there is none; BadData for files that cannot be read.
    """
    machine = collect_machine().id
    newest = {one.document.run.suite: one for one in _all_unfinished(results / machine)}
    found = [one for suite, one in newest.items() if not suites or suite in suites]
    if not found:
        of = f" of {', '.join(suites)}" if suites else ""
        msg = f"{results / machine}: no run{of} was cut short here; leave out --resume to start one"
        raise UsageError(msg)
    return found


def _all_unfinished(folder: Path) -> Iterator[Unfinished]:
    """Every unfinished run below `folder`, the oldest first."""
    places = [place for path in folder.glob("*") if (place := Submission(path)).plan_file.is_file()]
    for place in sorted(places, key=lambda one: one.machine_file.stat().st_mtime_ns):
        document, problems = read_machine_file(place.machine_file, str(place.machine_file))
        plan, more = read_plan_file(place.plan_file, str(place.plan_file))
        if document is None or plan is None:
            raise BadData([*problems, *more])
        yield Unfinished(place, document, plan)


def reopen(one: Unfinished, work: Work) -> OpenSubmission:
    """The submission, open again, with the moment written down. Raises: HostNotReady when something has changed."""
    if changes := list(_changes(one, work)):
        msg = (
            f"{one.place.folder}: cannot be continued, as {'; '.join(changes)}\n"
            "its rows are kept; to measure anew leave out --resume"
        )
        raise HostNotReady(msg)
    run = one.document.run
    run = run.model_copy(update={"resumed": (*run.resumed, moment())})
    document = one.document.model_copy(update={"run": run})
    write_machine_file(one.place.machine_file, document)
    return OpenSubmission(one.place, document, one.plan)


def work_of(one: Unfinished, suites: Iterable[tuple[Path, Suite]], known: Mapping[str, Tracer]) -> Work:
    """What an unfinished run works on. Raises: UsageError for a suite or tracer that is not known any more."""
    found = {suite.id: (folder, suite) for folder, suite in suites}
    if one.document.run.suite not in found:
        msg = f"{one.place.folder}: suite {one.document.run.suite} is not known here"
        raise UsageError(msg)
    folder, suite = found[one.document.run.suite]
    names = list(dict.fromkeys(subject.tracer for subject in one.plan.subjects))
    return Work(folder, suite, {name: _tracer(name, one.plan, known) for name in names}, (), {})


def _tracer(name: str, plan: PlanFile, known: Mapping[str, Tracer]) -> Tracer:
    if name in known:
        return known[name]
    for tracer in known.values():
        if name in plan.programs and name.startswith(f"{tracer.id}-"):
            return at_path(tracer, plan.programs[name])
    msg = f"{name}: no such tracer here, but the unfinished run has it; known: {', '.join(known)}"
    raise UsageError(msg)


def _changes(one: Unfinished, work: Work) -> Iterator[str]:
    """What differs between now and the beginning of the run, in words."""
    document = one.document
    before = {"machine": document.machine.model_dump(), "system": document.system.model_dump()}
    now = {"machine": collect_machine().model_dump(), "system": collect_system(None).model_dump()}
    for part, facts in before.items():
        for name, value in facts.items():
            if name != "clock_read_ns" and now[part][name] != value:
                yield f"{part}.{name} was {value} and is {now[part][name]}"
    for name, version in work.versions().items():
        if document.tools.get(name) != version:
            yield f"{name} was {document.tools.get(name)} and is {version}"
    if work.digest() != one.plan.digest:
        yield f"the files of suite {work.suite.id} have changed"
    if document.provenance.tool != f"probe-effect {__version__}":
        yield f"it was begun by {document.provenance.tool}"
    if document.run.started > datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"):
        yield f"it began at {document.run.started}, which this machine's clock says is still to come"
