"""Our figures against hyperfine's: the same case and the same time for both, ten times each.

Usage, as root, on a machine with nothing else to do, in the project's folder:
PYTHONPATH=tests .venv/bin/python -m evidence.against_hyperfine [--with-drift] [--json FILE] (`make bench` runs it too).
hyperfine comes from the distribution: apt install hyperfine.

Both time the same program on the same CPU, with bpftrace on another. Both methods get the same wall time for all that
they do: our trial runs and counting runs, and hyperfine's warm-up and bpftrace's start, are inside it.

- Ours: `probe-effect measure` as it is, baseline and traced runs interleaved in random blocks, each with bpftrace
  started anew; the Hodges-Lehmann estimate with its exact 95 % interval.
- hyperfine's way: all untraced runs; then bpftrace is started, all traced runs are made, and bpftrace is ended, as in
  the talk of 2023. hyperfine times whole processes; the start of the process is in both arms and falls out of their
  difference. Two estimates: the difference of its means with the usual interval, ±1.96 standard errors of the
  difference, and the difference of its minima, which has no interval. hyperfine itself prints no interval.

The truth is not known. An interval is held against the median of all estimates of both methods (ours and the mean), and
against the median of its own method, which leaves out a shift between the methods; for the control the truth is 0.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from evidence.hyperfine_contest import DATA, Contest
from evidence.hyperfine_figures import case_document, chance_ratio, table
from probe_effect import units
from probe_effect.host.load import load_average
from probe_effect.host.processes import WORK_PREFIX, Child
from probe_effect.host.this_machine import choose_cpus, collect_machine, collect_system
from probe_effect.host.workloads import build, clock_read_ns
from probe_effect.measure.one_run import Interrupted, interruptible
from probe_effect.measure.request import QUICK, THOROUGH, choose_suites, choose_tracers, resolve
from probe_effect.model import HostNotReady, ProbeEffectError, unknown
from probe_effect.tracers.tool import absent, known_tracers, version_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from evidence.hyperfine_contest import Outcome, Outcomes
    from probe_effect.measure.request import Lengths
    from probe_effect.store.machine_file import Machine, System

SUITE = "per-event"
TRACER = "bpftrace"
METHODS = ("ours", "hyperfine")
CASES = ("04-tracepoint-entry", "01-control")
REPETITIONS, QUICK_REPETITIONS = 10, 2
SECONDS, QUICK_SECONDS = 20.0, 8.0

PERIOD_S = 6.0
"""Of the neighbour: a few of our blocks, and a third of the time of a repetition."""

NEIGHBOUR = """
import os, sys, time
cpu, half_s = int(sys.argv[1]), float(sys.argv[2])
os.sched_setaffinity(0, {cpu})
while True:
    end_s = time.monotonic() + half_s
    while time.monotonic() < end_s:
        pass
    time.sleep(half_s)
"""


def contests(cases: Sequence[str], lengths: Lengths, folder: Path) -> list[Contest]:
    """The cases that this host can measure. Raises: HostNotReady when a program, a right or every case is missing."""
    if reason := absent("hyperfine", "on Debian and Ubuntu: apt install hyperfine"):
        raise HostNotReady(reason)
    ((place, suite),) = choose_suites(DATA, [SUITE])
    unknown(cases, [case.id for case in suite.cases], "case")
    tracers = choose_tracers(known_tracers(), [TRACER])
    works = [resolve(place, suite, tracers, [case]) for case in dict.fromkeys(cases)]
    for work in works:
        for subject, reason in work.skipped.items():
            say(f"{subject.case}: left out: {reason}")
    found = [Contest(work, lengths, folder, choose_cpus()) for work in works if work.measured]
    if not found:
        msg = f"none of {', '.join(cases)} can be measured here with {TRACER}"
        raise HostNotReady(msg)
    return found


@contextmanager
def neighbour(cpu: int) -> Iterator[None]:
    """Another program on `cpu` that works half of the time. Raises: ProbeEffectError when it did not last."""
    child = Child(
        [sys.executable, "-c", NEIGHBOUR, str(cpu), str(PERIOD_S / 2)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
        if (ended := child.wait(0)) is not None:
            msg = f"the neighbour on CPU {cpu} ended early, with status {ended.exit_status}: the figures are no use"
            raise ProbeEffectError(msg)
    finally:
        child.end()


def compare(cases: Sequence[Contest], repetitions: int, seconds: float, condition: str) -> dict[str, Outcomes]:
    """Case id to the outcomes of either method. Cases and methods take turns; the methods alternate in going first.

    Raises: ProbeEffectError when fewer than two repetitions of a method end well.
    """
    found: dict[str, Outcomes] = {contest.case: {method: [] for method in METHODS} for contest in cases}
    for repetition in range(repetitions):
        for contest in cases:
            for method in METHODS if repetition % 2 == 0 else METHODS[::-1]:
                say(f"{contest.case}, {condition}, {repetition + 1} of {repetitions}, {method}: ", end="")
                _repeat(contest, method, seconds, found[contest.case][method])
    for case, outcomes in found.items():
        for method, made in outcomes.items():
            if len(made) < 2:
                msg = (
                    f"{case}, {condition}, {method}: {len(made)} of {repetitions} repetitions ended well; 2 are needed"
                )
                raise ProbeEffectError(msg)
    return found


def _repeat(contest: Contest, method: str, seconds: float, made: list[Outcome]) -> None:
    """One repetition more. One that fails is left out, and said: it must not cost the others."""
    try:
        outcome = contest.repeat(method, seconds, made)
    except (Interrupted, HostNotReady):
        raise
    except ProbeEffectError as error:
        say(f"left out: {error}")
        return
    made.append(outcome)
    say(f"{units.duration(outcome.cost.value)} in {outcome.seconds:.1f} s")


def say(text: str, end: str = "\n") -> None:
    """Progress."""
    print(text, file=sys.stderr, end=end, flush=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Under which the figures were made."""

    machine: Machine
    system: System
    tools: tuple[str | None, ...]
    repetitions: int
    seconds: float
    load_before: float | None
    load_after: float | None

    def words(self) -> str:
        """For people, in Markdown."""
        chance = chance_ratio(self.repetitions)
        return (
            f"{self.machine.cpu_model}, {self.machine.threads} CPUs, {self.machine.virtualization or 'no hypervisor'}, "
            f"Linux {self.system.kernel_release}, {', '.join(map(str, self.tools))}.\n"
            f"{self.repetitions} repetitions of about {self.seconds:g} s for each method; "
            f"load {self.load_before} before, {self.load_after} after.\n"
            f"Where the truth is equal, a ratio of standard deviations lies between {units.significant(1 / chance, 2)} "
            f"and {units.significant(chance, 2)} in 95 of 100 benchmarks."
        )

    def document(self, found: Mapping[str, Mapping[str, Outcomes]]) -> dict[str, object]:
        """All of it for programs: the conditions, and by condition and case the figures, ratios and outcomes."""
        others = ("tools", "repetitions", "seconds", "load_before", "load_after")
        return {
            "machine": self.machine.model_dump(),
            "system": self.system.model_dump(),
            **{name: getattr(self, name) for name in others},
            "cases": [
                {"condition": condition, "case": case, **case_document(outcomes)}
                for condition, by_case in found.items()
                for case, outcomes in by_case.items()
            ],
        }


def benchmark(
    cases: Sequence[str], repetitions: int, seconds: float, lengths: Lengths, *, with_drift: bool
) -> tuple[Conditions, dict[str, dict[str, Outcomes]]]:
    """The conditions, and the outcomes by condition and case; each condition's tables are printed when it is done.

    Raises: ProbeEffectError.
    """
    load_before = load_average()
    workload_cpu, _ = choose_cpus()
    found = {}
    with tempfile.TemporaryDirectory(prefix=f"{WORK_PREFIX}{os.getpid()}-") as folder:
        contenders = contests(cases, lengths, Path(folder))
        surroundings: dict[str, AbstractContextManager[None]] = {"quiet": nullcontext()}
        if with_drift:
            surroundings["neighbour"] = neighbour(workload_cpu)
        minutes = len(contenders) * (len(surroundings) * repetitions * 2 + 1) * seconds / 60
        say(f"about {minutes:.0f} min, after a trial of each case")
        for contest in contenders:
            contest.try_out()
        for condition, surrounding in surroundings.items():
            with surrounding:
                found[condition] = compare(contenders, repetitions, seconds, condition)
            for case, outcomes in found[condition].items():
                print(f"## {case}, {condition}\n\n{table(outcomes)}\n", flush=True)
        work = contenders[0].work
        program = build(work.source(), libraries=work.suite.workload.libraries).path
    conditions = Conditions(
        machine=collect_machine(),
        system=collect_system(clock_read_ns(program, workload_cpu)),
        tools=(*work.versions().values(), version_line("hyperfine")),
        repetitions=repetitions,
        seconds=seconds,
        load_before=load_before,
        load_after=load_average(),
    )
    return conditions, found


@click.command()
@click.option("--case", "cases", multiple=True, default=CASES, show_default=True, help=f"A case of {SUITE}; repeat.")
@click.option("--repetitions", type=click.IntRange(2), help=f"[default: {REPETITIONS}, quick: {QUICK_REPETITIONS}]")
@click.option("--seconds", type=click.FloatRange(1), help=f"Of each. [default: {SECONDS:g}, quick: {QUICK_SECONDS:g}]")
@click.option("--with-drift", is_flag=True, help=f"Once more with a neighbour, busy half of each {PERIOD_S:g} s.")
@click.option("--quick", is_flag=True, help="Short and few: to see that it works, never for figures.")
@click.option("--json", "json_file", type=click.File("w", encoding="utf-8", lazy=False), help="All of it for programs.")
def main(
    *,
    cases: tuple[str, ...],
    repetitions: int | None,
    seconds: float | None,
    with_drift: bool,
    quick: bool,
    json_file: TextIO | None,
) -> None:
    """Print as Markdown how our figures compare with hyperfine's."""
    repetitions = repetitions or (QUICK_REPETITIONS if quick else REPETITIONS)
    seconds = seconds or (QUICK_SECONDS if quick else SECONDS)
    try:
        with interruptible():
            made = benchmark(cases, repetitions, seconds, QUICK if quick else THOROUGH, with_drift=with_drift)
    except ProbeEffectError as error:
        say("\nstopped" if isinstance(error, Interrupted) else f"error: {error}")
        sys.exit(error.exit_status)
    conditions, found = made
    print(conditions.words())
    if json_file is not None:
        json.dump(conditions.document(found), json_file, indent=2, allow_nan=False)
        json_file.write("\n")


if __name__ == "__main__":
    main()
