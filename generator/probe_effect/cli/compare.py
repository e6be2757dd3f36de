"""`probe-effect compare`: two submissions, two machines, or two tracers, with intervals, and what differs besides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from probe_effect.cli import output
from probe_effect.cli.compare_output import Compared, as_json, show, tracers_by_case
from probe_effect.cli.places import data_folder, data_option
from probe_effect.errors import BadData, ProbeEffectError, UsageError
from probe_effect.guidance.catalogue import read_submission
from probe_effect.guidance.comparison import Side, between, between_tracers, without_counterpart
from probe_effect.measure.request import unknown
from probe_effect.store.places import DataFolder, Submission

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from probe_effect.guidance.comparison import Measurement
    from probe_effect.model import Problem


@click.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@click.option("--tracers", nargs=2, metavar="T U", help="Compare two tracers of A with each other.")
@click.option("--case", "cases", multiple=True, help="Only this case; may be repeated.")
@click.option("--tracer", "only", multiple=True, help="Only this tracer; may be repeated.")
@data_option
@output.format_option
def compare(
    *,
    first: str,
    second: str | None,
    tracers: tuple[str, str] | None,
    cases: tuple[str, ...],
    only: tuple[str, ...],
    data_path: Path | None,
    form: str,
) -> None:
    """Say where B costs more or less than A, and where no difference can be seen.

    A and B are folders of submissions, or machines by id or folder: of a machine the newest measurements count.

    \b
    Example: probe-effect compare data/results/*/2026-11-20-per-event-{2,3}
    Example: probe-effect compare amd-epyc-2t-kvm-d4f3 --tracers bpftrace libbpf
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path)
    if tracers and second is None and not only:
        found = _tracers(_side(first, data), tracers, cases)
    elif second is not None and not tracers:
        found = _sides(_side(first, data), _side(second, data), cases, only)
    else:
        msg = "expected A and B, or A and `--tracers T U` without `--tracer`"
        raise UsageError(msg)
    if form == "json":
        output.product_json(as_json(found))
    else:
        show(found)


def _side(text: str, data: DataFolder) -> Side:
    """A submission or a machine. Raises: UsageError where `text` is neither, BadData where its files are unsound."""
    folder = Path(text) if Path(text).is_dir() else data.results / text
    files = _submissions(folder.resolve())
    if not files:
        known = ", ".join(sorted({one.machine for one in data.submissions()})) or "none"
        msg = f"{text}: neither the folder of a submission nor a machine with any; known machines: {known}"
        raise UsageError(msg)
    problems: list[Problem] = []
    read = [read_submission(one, data, problems) for one in files]
    if problems:
        raise BadData(problems)
    newest_first = sorted(filter(None, read), key=lambda one: one.document.run.started, reverse=True)
    is_one = files[0].folder == folder.resolve()
    return Side(files[0].id if is_one else folder.resolve().name, tuple(newest_first))


def _submissions(folder: Path) -> list[Submission]:
    """The submission that `folder` is, or those that lie in it."""
    own = Submission(folder)
    if own.machine_file.is_file() or own.samples.is_file():
        return [own]
    inside = (Submission(path) for path in sorted(folder.glob("*")))
    return [one for one in inside if one.machine_file.is_file()]


def _sides(first: Side, second: Side, cases: Sequence[str], tracers: Sequence[str]) -> Compared:
    """Raises: UsageError for one side twice, or times against instructions; ProbeEffectError without a common case."""
    _may_be_compared(first, second)
    known = [*first.measurements().values(), *second.measurements().values()]
    wanted = _filter(known, cases, tracers)
    found = [one for one in between(first, second) if wanted(one.first)]
    if not found:
        ours, others = (_names(filter(wanted, side.measurements().values())) for side in (first, second))
        msg = f"no case with the same tracer on both sides. {first.name}: {ours}. {second.name}: {others}."
        raise ProbeEffectError(msg)
    only_first = without_counterpart(first, [one.first for one in found])
    only_second = without_counterpart(second, [one.second for one in found])
    return Compared(
        first.name,
        second.name,
        f"on {second.name}" if _is_machine(second) else f"in {second.name}",
        tuple(found),
        tuple(filter(wanted, only_first)),
        tuple(filter(wanted, only_second)),
    )


def _tracers(side: Side, tracers: tuple[str, str], cases: Sequence[str]) -> Compared:
    """Raises: UsageError for one tracer twice or an unknown one; ProbeEffectError where no case has both."""
    first, second = tracers
    if first == second:
        msg = f"{first}: the same tracer twice. Expected two tracers, such as --tracers bpftrace libbpf."
        raise UsageError(msg)
    known = list(side.measurements().values())
    _filter(known, (), tracers)
    wanted = _filter(known, cases, ())
    found = [one for one in between_tracers(side, first, second) if wanted(one.first)]
    ours, others = (tuple(one for one in known if wanted(one) and one.case.tracer == tracer) for tracer in tracers)
    if not found:
        msg = f"{side.name}: no case with both tracers. {first}: {_names(ours)}. {second}: {_names(others)}."
        raise ProbeEffectError(msg)
    compared = {(one.first.case.case, one.first.case.level) for one in found}
    only_first, only_second = (
        tuple(one for one in known_of if (one.case.case, one.case.level) not in compared) for known_of in (ours, others)
    )
    return Compared(first, second, f"with {second}", tuple(found), only_first, only_second, of=side.name)


def _may_be_compared(first: Side, second: Side) -> None:
    if [one.files.folder for one in first.submissions] == [one.files.folder for one in second.submissions]:
        msg = f"{first.name}: the same twice. Expected two submissions or machines that are not one and the same."
        raise UsageError(msg)
    metrics = [{one.summary.metric for one in side.submissions} for side in (first, second)]
    if metrics[0].isdisjoint(metrics[1]):
        words = " against ".join(", ".join(sorted(found)) for found in metrics)
        msg = f"{first.name}, {second.name}: {words}. Times and instruction counts are never compared."
        raise UsageError(msg)


def _filter(
    known: Iterable[Measurement], cases: Sequence[str], tracers: Sequence[str]
) -> Callable[[Measurement], bool]:
    """Whether one is asked for; none named means all. Raises: UsageError for a name that nothing known has."""
    keys = [one.key for one in known]
    unknown(cases, sorted({key.case for key in keys}), "case here")
    unknown(tracers, sorted({key.tracer for key in keys}), "tracer here")
    return lambda one: (not cases or one.case.case in cases) and (not tracers or one.case.tracer in tracers)


def _names(measurements: Iterable[Measurement]) -> str:
    return "; ".join(f"{case} ({tracers})" for case, tracers in tracers_by_case(measurements)) or "none"


def _is_machine(side: Side) -> bool:
    return "/" not in side.name
