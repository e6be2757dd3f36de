"""What `probe-effect doctor` finds, in sections for people or as JSON, and what `wanted` and `lend` make of it.

`lend` looks, plans, measures suite by suite, checks, and says how to send it.

The JSON of `doctor` has these keys, null where there is no value; further ones may follow. `measure/diagnosis.py` says
more.
`can_measure`; `machine` and `system`, as in `machine.json`; `is_root`; `compiler` and `tracefs`: `found`, `reason`;
`aslr`; `workload_cpu`; `tracer_cpu`; `load`; `steal_ratio`; `kernel`: facility to null or why it is missing; `tracers`:
`tracer`, `version`, `unavailable`, `lacks`; `suites`: `suite`, `cases`, `scripts`, `measurable`, `unbuildable`;
`packages`; `install`; `warnings`: `id`, `found`, `why`, `advice`, `measure` (`refuses`, `says` or `records`).
"""

import getpass
import platform
import shlex
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from pydantic import TypeAdapter

from probe_effect import units
from probe_effect.cli import output
from probe_effect.cli.data_options import data_words
from probe_effect.cli.measure import measure
from probe_effect.cli.measure_settings import CACHE
from probe_effect.cli.output import show_commands, show_section
from probe_effect.cli.submissions import submit
from probe_effect.guests.assembly import host_programs
from probe_effect.guests.debian import ARCHITECTURES, check_programs, of_the_host
from probe_effect.guests.testbed import tried_mechanisms
from probe_effect.host import ROOT, run_program, this_machine, typed
from probe_effect.host.compilers import own_cache
from probe_effect.host.kernel import mount_for_good, mount_for_our_time
from probe_effect.host.system import CPU_FOLDER, isolated, throttles
from probe_effect.host.this_machine import warnings
from probe_effect.measure.diagnosis import PROBED, Availability, Diagnosis, SuiteState, diagnose, flags_missing
from probe_effect.measure.one_run import Interrupted, TimeIsOver, interruptible, within
from probe_effect.measure.request import QUICK, THOROUGH, Work, choose_suites, resolve
from probe_effect.measure.submission import cut_short, ids_of, read_unfinished
from probe_effect.measure.testbed import Testbed, quiet_machine
from probe_effect.model import HostNotReady, ProbeEffectError
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, read_numbers
from probe_effect.numbers.shown import facts_of, kind_of
from probe_effect.numbers.wanted import SuiteTurn, by_want, fitted, new_here, run_s
from probe_effect.store.places import PACKAGED, DataFolder, submissions_in
from probe_effect.store.transcripts import MECHANISMS
from probe_effect.tracers.protocol import Tracer, TracerState, install_line
from probe_effect.tracers.tool import known_tracers


def run_doctor(data: DataFolder, output_format: str) -> bool:
    diagnosis = diagnose(choose_suites(data, []), known_tracers())
    if output_format == "json":
        values = TypeAdapter(Any).dump_python(diagnosis)
        output.product_json(
            {"can_measure": diagnosis.can_measure, **values, "install": install_line(diagnosis.packages)}
        )
        return diagnosis.can_measure
    no_tracefs = diagnosis.tracefs.reason  # which is in the facts, once
    lacking = ((need, reason) for need, reason in diagnosis.kernel.items() if reason and reason != no_tracefs)
    show_section("This machine", facts(diagnosis))
    show_section("Tracers", (_tracer(tracer, no_tracefs) for tracer in diagnosis.tracers))
    show_section("What this kernel lacks", lacking)
    show_section("Suites, and how many of their cases can be measured here", map(_suite, diagnosis.suites))
    show_section("What makes it noisy", noise(diagnosis))
    show_commands("What to do", _advice(diagnosis))
    return diagnosis.can_measure


def mount() -> None:
    """Mount what is missing of tracefs and debugfs, for everybody, and say it. Raises: HostNotReady."""
    try:
        new = mount_for_good()
    except OSError as refusal:
        msg = f"{refusal.filename or 'mount'}: {refusal.strerror}. Expected root outside of a container"
        raise HostNotReady(msg) from refusal
    output.say(f"mounted: {', '.join(new)}" if new else "nothing to mount")


def try_mechanisms(words: str, architecture: str, output_format: str) -> None:
    """Print which mechanisms of tracing a kernel has. Raises: UsageError, HostNotReady."""
    document = tried_mechanisms(words, architecture, own_cache(CACHE), output.say)
    if output_format == "json":
        output.product_json(document.model_dump())
        return
    rows = (
        (MECHANISMS[name]["name"], *map(str, filter(None, (trial.outcome, trial.error, trial.says))))
        for name, trial in document.trials.items()
    )
    show_section(f"Mechanisms of tracing on {document.kernel_release}", rows)


def facts(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    machine, system = diagnosis.machine, diagnosis.system
    core = f" ({machine.microarchitecture})" if machine.microarchitecture else ""
    yield "CPU", f"{names.cpu(machine)}{core}, {machine.threads} CPUs"
    if machine.core_kinds:
        yield "cores", "; ".join(f"{number} of {kind}" for kind, number in machine.core_kinds.items())
    if machine.virtualization:
        yield "virtual", machine.virtualization
        yield "nested", names.nesting(machine, system)
    yield "exits", ", ".join(names.traps(system)) or "not measured"
    unread = ("the kernel's log is closed to us, or lacks the boot",) if system.boot_messages is None else ()
    yield "at boot", "\n".join(system.boot_messages or unread) or "no word of a hypervisor"
    yield "system", ", ".join(dict.fromkeys(filter(None, (system.os, names.kernel_name(system, exact=True)))))
    yield "user", "root" if diagnosis.is_root else "not root"
    yield "C compiler", _answer(diagnosis.compiler)
    yield "tracefs", _answer(diagnosis.tracefs)
    tracers = "the same" if diagnosis.tracer_cpu is None else f"CPU {diagnosis.tracer_cpu}"
    yield "pinning", f"workload to CPU {diagnosis.workload_cpu}, tracers to {tracers}"
    yield "clock", f"{system.clocksource or 'not known'}, a read takes {units.duration(system.clock_read_ns)}"
    yield "load", f"{units.MISSING if diagnosis.load is None else diagnosis.load} (average of a minute)"
    yield (
        "steal",
        f"{units.percent(diagnosis.steal_ratio)} of CPU {diagnosis.workload_cpu}'s time since the machine started",
    )
    yield "ASLR", diagnosis.aslr or "not known"
    yield "any kernel", _any_kernel()


def _any_kernel() -> str:
    """Whether machines can be emulated here, which need neither root nor anything of this kernel."""
    able, lacks = [], []
    for name, architecture in ARCHITECTURES.items():
        try:
            of_the_host()
            check_programs(host_programs(architecture))
        except HostNotReady as missing:
            lacks.append(f"{name}: {missing}")
        else:
            able.append(name)
    if not able:
        return f"no: {'; '.join(lacks)}"
    how = typed("measure", "--vm", "bookworm")
    answer = f"instructions can be counted in machines emulated for {' and '.join(able)}: {how}"
    return f"{answer}. Not for {'; '.join(lacks)}" if lacks else answer


def _answer(answer: Availability) -> str:
    return f"no: {_gist(answer.reason or '')}" if answer.found is None else answer.found.partition(" -")[0]


def _tracer(state: TracerState, no_tracefs: str | None) -> tuple[str, str, str]:
    if state.unavailable:
        return state.tracer, "no", "for lack of tracefs" if state.unavailable == no_tracefs else state.unavailable
    if len(state.lacks) == len(PROBED):
        lacks = "; uses no probes of the kernel"
    else:
        lacks = f"; without {', '.join(state.lacks)}" if state.lacks else ""
    return state.tracer, "yes", f"{state.version or 'version not known'}{lacks}"


def _suite(state: SuiteState) -> tuple[str, str, str]:
    numbers = (f"{name} {number} of {state.scripts[name]}" for name, number in state.measurable.items() if number)
    can = f"none: {_gist(state.unbuildable)}" if state.unbuildable else ", ".join(numbers) or "none"
    return state.suite, f"{state.cases} cases", can


def _gist(complaint: str) -> str:
    """The line of a compiler's words that says what is wrong."""
    return next((line for line in complaint.splitlines() if "error: " in line), complaint.partition("\n")[0])


def noise(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    for warning in diagnosis.warnings:
        yield warning.id, f"{warning.found[0].upper()}{warning.found[1:]}. {warning.why}\nTo do: {warning.advice}."


def _advice(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    if install := install_line(diagnosis.packages):
        yield "install what is missing", install
    elif diagnosis.packages:
        yield "install what is missing; by Debian's names it is", " ".join(diagnosis.packages)
    if not diagnosis.is_root:
        yield "see what root can measure", f"sudo {shlex.quote(sys.argv[0])} doctor"
    if not diagnosis.can_measure:
        yield "nothing can be measured as it is; when the reasons above are mended", typed("doctor")
        return
    yield "measure what the site lacks most, in your time", typed("lend", "--minutes", "60")
    yield "see that plan without measuring", typed("lend", "--dry-run")


USUAL_RUN_S = 0.8
"""Of a run with its tracer's start and end, in a suite that nobody has measured."""

LEAST_RUN_S = 0.2


def tracers_here() -> dict[str, Tracer]:
    """The tracers that this system may have: outside of Linux DTrace alone."""
    tracers = known_tracers()
    return (
        tracers
        if platform.system() == "Linux"
        else {name: tracer for name, tracer in tracers.items() if tracer.tool == "dtrace"}
    )


def works_here(data: DataFolder) -> list[Work]:
    ready = {name: tracer for name, tracer in tracers_here().items() if tracer.available() is None}
    suites = choose_suites(data, [])
    return [resolve(folder, suite, ready, []) for folder, suite in suites if suite.workload.project is None]


def known_numbers(data: DataFolder, results: Path) -> Catalogue:
    """The numbers of the data, with those of the complete submissions in a folder of results. Raises: BadData.

    Where the data folder has no suites of its own, as outside of a checkout, the data are those of the program too.
    """
    given = data.submissions()
    if not (data.root / "suites").is_dir():
        given += DataFolder(PACKAGED).submissions()
    places = {
        submission.id: submission
        for submission in (*given, *submissions_in(results))
        if not submission.plan_file.exists()
    }
    return read_numbers(data, list(places.values()))


def turns_here(catalogue: Catalogue, works: Collection[Work]) -> list[SuiteTurn]:
    """A turn for each suite of which anything can be measured, the most wanted first."""
    kind, usual_s = kind_of(facts_of(this_machine.collect_machine(), "")), run_s(catalogue)
    turns = []
    for work in (work for work in works if work.measured):
        cases = list(dict.fromkeys(subject.case for subject in work.measured))
        first, own = new_here(catalogue, kind, cases)
        runs = len(work.measured) + 2 * len(work.levels)
        a_run_s = max(usual_s.get(work.suite.id, USUAL_RUN_S), LEAST_RUN_S)
        saved_s = (work.suite.workload.seconds or THOROUGH.traced_s) - QUICK.traced_s
        turn = SuiteTurn(
            suite=work.suite.id,
            cases=len(cases),
            first=first,
            own=own,
            block_s=runs * a_run_s,
            quick_block_s=runs * max(a_run_s - saved_s, LEAST_RUN_S),
        )
        turns.append(turn)
    return by_want(turns)


MINUTE_S = 60


def show_turns(title: str, turns: Iterable[SuiteTurn], *, aside: bool = False) -> None:
    rows = []
    for turn in turns:
        how = f"{turn.blocks} blocks{', quick' if turn.is_quick else ''}"
        first = f", {len(turn.first)} that no machine has" if turn.first else ""
        new = f"{len(turn.own)} new on such a machine{first}" if turn.own else "such a machine has all of them"
        cases = f"{turn.cases} case{'s' if turn.cases > 1 else ''}"
        rows.append((turn.suite, f"{max(1, round(turn.takes_s / MINUTE_S))} min, {how}", f"{cases}, {new}"))
    show_section(title, rows, aside=aside)


SIP = "boot into Recovery, run `csrutil enable --without dtrace`, and start again; afterwards `csrutil enable`"


def show_look(data: DataFolder, *, aside: bool) -> None:
    diagnosis = diagnose(choose_suites(data, []), tracers_here())
    brief = [row for row in facts(diagnosis) if row[0] in {"CPU", "virtual", "system", "user"}]
    brief += [
        ("tracers", ", ".join(state.tracer for state in diagnosis.tracers if state.unavailable is None) or "none")
    ]
    if lacking := [need for need, reason in diagnosis.kernel.items() if reason]:
        brief += [("lacks", f"{', '.join(lacking)} of the kernel; {typed('doctor')} says why")]
    if diagnosis.packages:
        brief += [("install", install_line(diagnosis.packages) or " ".join(diagnosis.packages))]
    if protection := integrity_protection():
        brief += [("macOS", protection)]
    quieter, cpu = [*noise(diagnosis)], diagnosis.workload_cpu
    if (ROOT / CPU_FOLDER).is_dir() and cpu not in isolated(ROOT):
        advice = f"To do: boot with isolcpus={cpu} nohz_full={cpu}."
        quieter += [("isolation", f"Others may run on the workload's CPU.\n{advice}")]
    show_section("This machine", brief, aside=aside)
    show_section("In this container, for more: start it with", flags_missing(), aside=aside)
    title = "For less noise: nothing is set, but governor and turbo with --quiet-machine"
    show_section(title, quieter, aside=aside)


def integrity_protection() -> str | None:
    """What macOS keeps from DTrace, and what to do; None elsewhere, and where it keeps nothing."""
    if platform.system() != "Darwin":
        return None
    try:
        run = run_program(["csrutil", "status"], 10)
    except OSError:
        return None
    whole = "status: enabled" if "DTrace Restrictions:" not in run.stdout else "DTrace Restrictions: enabled"
    return f"System Integrity Protection keeps DTrace from most probes; {SIP}" if whole in run.stdout else None


TOLD = ("battery", "throttled")
"""What may begin while a suite is measured, and can be mended before the next."""

OVERTIME = 1.1
"""Of its time, when a suite that is not done yet is cut short: most of those that were fitted in end a little late."""

LEAST_PACE = 0.3
"""A suite that took less than this share of its planned time says nothing of how long the next takes."""


def run_lend(
    data: DataFolder,
    results: Path,
    minutes: int,
    credit: Sequence[str],
    *,
    yes: bool,
    dry_run: bool,
    is_quiet: bool,
) -> None:
    """Lend this machine; `credit` has words for `measure`. Raises: HostNotReady, BadData, Interrupted."""
    mount_for_our_time()
    own = ids_of(Testbed())
    unfinished = (read_unfinished(folder) for folder in cut_short(results) if folder.machine in own)
    begun = list(dict.fromkeys(submission.document.run.suite for submission in unfinished))
    turns = _turns(data, results, begun)
    show_look(data, aside=not dry_run)
    for suite in begun:
        output.say(f"cut short earlier, and continued first: {suite}")
    title = f"What it will measure in about {minutes} min, the most wanted first"
    show_turns(title, _chosen(turns, begun, minutes), aside=not dry_run)
    if dry_run:
        return
    asks = sys.stdin.isatty() and not yes
    if asks:
        click.confirm("Begin?", default=True, abort=True, err=True)
    before, places = _complete(results), ["--out", str(results), *data_words(data)]
    given_s = minutes * MINUTE_S
    with interruptible(), quiet_machine(output.say, is_wanted=is_quiet), within(OVERTIME * given_s):
        try:
            _measure_all(turns, begun, time.monotonic() + given_s, credit, places)
        except TimeIsOver as over:
            output.say(str(over))
    if not (made := [folder for folder in _complete(results) if folder not in before]):
        raise HostNotReady("nothing was measured to its end; the reasons are above")
    _propose([*made, *data_words(data)], asks=asks)


def _turns(data: DataFolder, results: Path, begun: Sequence[str]) -> list[SuiteTurn]:
    """The suites of this machine, without those that it has measured or begun. Raises: BadData.

    As a hosted runner it has measured what is in `results`: another run of its kind had another host.
    """
    (machine, runner), catalogue = ids_of(Testbed()), known_numbers(data, results)
    hosted = {submission.id for submission in submissions_in(results) if submission.machine == runner}
    done = {
        submission.suite for submission in catalogue.timed if submission.machine == machine or submission.id in hosted
    } | {*begun}
    return [due for due in turns_here(catalogue, works_here(data)) if due.suite not in done]


def _chosen(turns: Sequence[SuiteTurn], begun: Sequence[str], minutes: int) -> list[SuiteTurn]:
    chosen = fitted(turns, minutes * MINUTE_S)
    if chosen or begun:
        return chosen
    if not turns:
        msg = f"no suite can run here, or this machine has measured all that can; {typed('doctor')} says which"
        raise HostNotReady(msg)
    least = min(turns, key=lambda turn: turn.quick_s)
    needs = f"the shortest plan, of {least.suite}, takes {least.quick_s / MINUTE_S:.1f} min"
    raise HostNotReady(f"nothing fits into {minutes} min: {needs}")


def _measure_all(
    turns: Sequence[SuiteTurn], begun: Sequence[str], end_s: float, credit: Sequence[str], places: Sequence[str]
) -> None:
    """Continue what was begun, then suite after suite; after each, what is left is fitted into the time again."""
    for suite in begun:
        _try([suite, "--resume", *places], places)
    pace, planned_s, taken_s = 1.0, 0.0, 0.0
    while chosen := fitted(turns, (end_s - time.monotonic()) / pace):
        turn, start_s, hot = chosen[0], time.monotonic(), throttles(ROOT)
        turns = [later for later in turns if later.suite != turn.suite]
        able = (name for name, tracer in tracers_here().items() if tracer.available() is None)
        words = [turn.suite, *(word for name in able for word in ("--tracer", name))]
        words += [*(["--quick"] if turn.is_quick else []), "--blocks", str(turn.blocks)]
        if _try([*words, *credit, *places], places):
            planned_s, taken_s = planned_s + turn.takes_s, taken_s + time.monotonic() - start_s
            pace = max(taken_s / planned_s, LEAST_PACE)
        for warning in warnings(throttles=throttles(ROOT) - hot):
            if warning.id in TOLD:
                output.say(f"{turn.suite}: {warning.found}; {warning.advice}")


def _try(words: Sequence[str], places: Sequence[str]) -> bool:
    try:
        measure.main(list(words), standalone_mode=False)
    except Interrupted as stop:
        raise type(stop)(f"{stop}\nor all of it: {typed('lend', *places)}") from stop
    except ProbeEffectError as error:
        output.say(f"not measured: {words[0]}: {error}")
        return False
    return True


def _complete(results: Path) -> list[str]:
    places = submissions_in(results)
    return [
        str(submission.folder)
        for submission in places
        if submission.machine_file.is_file() and not submission.plan_file.exists()
    ]


def _propose(words: Sequence[str], *, asks: bool) -> None:
    try:
        submit.main([*words, "--dry-run"], standalone_mode=False)
    except HostNotReady as error:  # root's git may not know a name, which who submits has
        output.say(f"as {getpass.getuser()} it cannot be submitted: {error}")
        asks = False
    if asks and click.confirm("Propose it for publication now?", default=False, err=True):
        submit.main([*words, "--yes"], standalone_mode=False)
    else:
        output.say(f"to publish it: {typed('submit', *words)}")
