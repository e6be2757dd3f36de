"""`probe-effect measure --dry-run`: what would be run, and what not and why."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from operator import attrgetter

from probe_effect import units
from probe_effect.cli.tables import show_section
from probe_effect.measure.bench import Settings
from probe_effect.measure.plan import plan
from probe_effect.measure.request import Work
from probe_effect.measure.testbed import ThisMachine
from probe_effect.model import Key
from probe_effect.numbers.once import grouped_by
from probe_effect.store.samples import PlannedSubject

TWO_MINUTES_S = 120


def show_plan(work: Work, settings: Settings) -> None:
    """The plan of one suite; nothing is measured, compiled or written."""
    show_section(f"{work.suite.id}: {work.suite.question}", _rows(work, settings))


def _rows(work: Work, settings: Settings) -> Iterator[tuple[str, str]]:
    if not work.measured:
        yield "runs", "none: nothing of this suite can be measured here"
    else:
        yield "CPUs", _cpus(work)
        if work.suite.factor:
            levels = ", ".join(level for level in work.levels if level is not None)
            yield "levels", f"{levels} ({work.suite.factor.unit}), in random order in each block"
        yield "blocks", f"{settings.blocks}, in the random order of seed {settings.seed}"
        yield "runs", _runs(work, settings)
        yield "to run it", shlex.join(settings.command)
        yield from _by_tracer(work.measured)
    if work.elsewhere:
        yield "left out", f"cases of another architecture: {', '.join(work.elsewhere)}"
    for reason, subjects in grouped_by(work.skipped, work.skipped.__getitem__).items():
        yield "skipped", "\n".join([f"{reason}:", *(": ".join(row) for row in _by_tracer(subjects))])


def _cpus(work: Work) -> str:
    if work.builds:
        return "all for the workload, tracers on the same"
    if work.occupies_cpus:
        return "one for each thread of the workload, tracers on the same"
    workload, tracer = ThisMachine().cpus(work)
    return f"workload on CPU {workload}, tracers on {'the same' if tracer is None else f'CPU {tracer}'}"


def _runs(work: Work, settings: Settings) -> str:
    """How many runs and how long, as far as it is known before the trials: a case whose trial fails makes none."""
    twins = work.twins()
    subjects = [
        PlannedSubject(case=one.case, tracer=one.tracer, level=one.level, operations=1, is_counted_apart=one in twins)
        for one in work.measured
    ]
    arms = Counter(run.arm for run in plan(subjects, settings.blocks, settings.seed))
    parts = [f"{arms['baseline']} baseline, {arms['traced']} traced"]
    parts += [f"{arms['check']} only to count events"] if arms["check"] else []
    about = f"about {units.count(arms.total())} ({', '.join(parts)})"
    if work.builds:
        return f"{about}, after a trial of each; a run is one build, and starting and ending the tracers comes on top"
    least_s = arms["baseline"] * _run_s(work, settings.lengths.baseline_s) + arms["traced"] * _run_s(
        work, settings.lengths.traced_s
    )
    least = f"{least_s:.0f} s" if least_s < TWO_MINUTES_S else f"{least_s / 60:.0f} min"
    return (
        f"{about}, after trials that find how long each must be; "
        f"workloads run for {least}, and starting and ending the tracers comes on top"
    )


def _run_s(work: Work, usual_s: float) -> float:
    """Seconds that one run of the workload is to take."""
    return min(usual_s, work.suite.workload.seconds or usual_s)


def _by_tracer(subjects: Iterable[Key]) -> list[tuple[str, str]]:
    """Each tracer with its cases, in their order, once for all their levels."""
    each = grouped_by(subjects, attrgetter("tracer"))
    return [(tracer, ", ".join(dict.fromkeys(one.case for one in own))) for tracer, own in each.items()]
