"""How a measurement looks: what `--dry-run` would run, and one line that changes on a terminal."""

import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from operator import attrgetter

from rich.console import Console
from rich.live import Live
from rich.text import Text

from probe_effect import units
from probe_effect.cli.output import plain, show_section, tell
from probe_effect.measure.bench import Progress, Settings, plan
from probe_effect.measure.request import Work
from probe_effect.measure.testbed import Testbed, leftovers
from probe_effect.model import Key, ProbeEffectError, Sample
from probe_effect.numbers.index import grouped_by
from probe_effect.store.machine_file import PlannedSubject

BAR_WIDTH = 24

CLOCK_JUMP_S = 1.0
"""Daemons that keep the time turn it by less than that, and set it only when it is off by more."""


def show_skipped(work: Work) -> None:
    each = grouped_by(work.skipped, lambda subject: (subject.tracer, work.skipped[subject]))
    for (tracer, reason), own in each.items():
        names = dict.fromkeys(key.case for key in own)  # once for all its levels
        tell(f"skipped with {tracer}, as {reason}: {', '.join(names)}")


def show_leftovers() -> None:
    for leftover in leftovers():
        try:
            leftover.remove()
        except (ProbeEffectError, OSError) as error:
            tell(f"left behind by a killed run: {leftover.what}; it cannot be removed: {error}")
        else:
            tell(f"left behind by a killed run and removed: {leftover.what}")


@contextmanager
def display(console: Console) -> Iterator[Callable[[Progress], None]]:
    """A function that shows progress on `console`: in a line that changes on a terminal, else a line for each step.

    Each run that did not end well has a line of its own.
    """
    # No thread redraws in between: it would run, and write, while a run is timed.
    live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
    last = ""

    def show(progress: Progress) -> None:
        nonlocal last
        if notice := _notice(progress):
            console.print(plain(notice), markup=False)
        if progress.phase == "told":
            return
        subject = progress.planned.subject
        line = {
            "calibrating": f"trial run: {_named(subject)}",
            "scripts": f"timed in a loop: the script of {_named(subject)}",
        }.get(progress.phase, f"block {progress.planned.block + 1} of {progress.blocks}")
        with_time = line + time_left(progress.left_s)
        if live:
            live.update(Text(_status(progress, with_time)), refresh=True)
        elif line != last and progress.phase != "done":
            console.print(with_time, markup=False)
        last = line

    with live or nullcontext():
        yield show


def _status(progress: Progress, line: str) -> str:
    filled = round(BAR_WIDTH * progress.done / max(progress.total, 1))
    subject, finished = progress.planned.subject, progress.finished
    counting = ", counting" if progress.planned.arm == "check" else ""
    running = _named(subject) + ("" if subject.is_baseline else f" ({subject.tracer}{counting})")
    status = f"{'━' * filled}{'╌' * (BAR_WIDTH - filled)} {line} · {running}"
    if finished is None or progress.cost is None:
        return status
    scale = units.DURATION if finished.instructions is None else units.INSTRUCTIONS
    return f"{status} · {_named(finished)} so far {units.interval(progress.cost, scale)} an event"


def _named(subject: Key | Sample) -> str:
    return subject.case if subject.level is None else f"{subject.case} at {subject.level}"


def time_left(left_s: float | None) -> str:
    """How long it goes on, to be put behind what it does; empty where that is not known."""
    if left_s is None:
        return ""
    minutes, seconds = divmod(round(left_s), 60)
    return f", {minutes} min {seconds:02} s left" if minutes else f", {seconds} s left"


def _notice(progress: Progress) -> str | None:
    if abs(progress.clock_jumped_s) >= CLOCK_JUMP_S:
        way = "forward" if progress.clock_jumped_s > 0 else "back"
        return (
            f"this machine's clock was set {way} by {abs(progress.clock_jumped_s):.0f} s during the run, or it slept; "
            "no time measured depends on that clock, but `started` and the folder's date are as it was before"
        )
    if progress.told:
        return "\n".join(f"disturbs the times: {disturbance}" for disturbance in progress.told)
    if progress.phase == "slept":
        return (
            f"this machine was suspended for {progress.slept_s:.0f} s in block {progress.planned.block + 1}: "
            "the rows of that block are dropped, and it is measured again"
        )
    row = progress.finished
    if row is None or row.status not in {"failed", "timeout"}:
        return None
    return f"{_named(row)} ({row.tracer}) {row.status}: {row.note}"


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
    workload, tracer = Testbed().cpus(work)
    return f"workload on CPU {workload}, tracers on {'the same' if tracer is None else f'CPU {tracer}'}"


def _runs(work: Work, settings: Settings) -> str:
    """How many runs and how long, as far as it is known before the trials: a case whose trial fails makes none."""
    twins = work.twins()
    subjects = [
        PlannedSubject(case=key.case, tracer=key.tracer, level=key.level, operations=1, is_counted_apart=key in twins)
        for key in work.measured
    ]
    arms = Counter(run.arm for run in plan(subjects, settings.blocks, settings.seed))
    parts = [f"{arms['baseline']} baseline, {arms['traced']} traced"]
    parts += [f"{arms['check']} only to count events"] if arms["check"] else []
    about = f"about {units.count(arms.total())} ({', '.join(parts)})"
    if work.builds:
        return f"{about}, after a trial of each; a run is one build, and starting and ending the tracers comes on top"
    most_s, lengths = work.suite.workload.seconds or math.inf, settings.lengths
    least_s = arms["baseline"] * min(lengths.baseline_s, most_s) + arms["traced"] * min(lengths.traced_s, most_s)
    least = f"{least_s:.0f} s" if least_s < 2 * 60 else f"{least_s / 60:.0f} min"
    return (
        f"{about}, after trials that find how long each must be; "
        f"workloads run for {least}, and starting and ending the tracers comes on top"
    )


def _by_tracer(subjects: Iterable[Key]) -> list[tuple[str, str]]:
    each = grouped_by(subjects, attrgetter("tracer"))
    return [(tracer, ", ".join(dict.fromkeys(key.case for key in own))) for tracer, own in each.items()]
