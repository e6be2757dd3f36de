"""What `probe-effect doctor` finds, in sections for people or as JSON, and what `lend` and `wanted` ask of it.

The JSON has these keys, null where there is no value; further ones may follow. `measure/diagnosis.py` says more.
`can_measure`; `machine` and `system`, as in `machine.json`; `is_root`; `compiler` and `tracefs`: `found`, `reason`;
`aslr`; `workload_cpu`; `tracer_cpu`; `load`; `steal_ratio`; `kernel`: facility to null or why it is missing; `tracers`:
`tracer`, `version`, `unavailable`, `lacks`; `suites`: `suite`, `cases`, `scripts`, `measurable`, `unbuildable`;
`packages`; `install`; `warnings`: `id`, `found`, `why`, `advice`, `measure` (`refuses`, `says` or `records`).
"""

import errno
import platform
import shlex
import sys
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from probe_effect import __version__, guests, units
from probe_effect.cli import output
from probe_effect.cli.measure_settings import CACHE
from probe_effect.cli.output import show_commands, show_section
from probe_effect.guests.assembly import assemble, host_programs
from probe_effect.guests.debian import ARCHITECTURES, check_programs, find_kernel, locked, of_the_host
from probe_effect.guests.testbed import EmulatedMachine
from probe_effect.host import ROOT, run_program, this_machine, typed
from probe_effect.host.compilers import own_cache
from probe_effect.host.kernel import mount_for_good
from probe_effect.host.system import CPU_FOLDER, isolated
from probe_effect.measure.diagnosis import PROBED, Availability, Diagnosis, SuiteState, diagnose, flags_missing
from probe_effect.measure.request import QUICK, THOROUGH, Work, choose_suites, resolve
from probe_effect.model import HostNotReady
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, read_numbers
from probe_effect.numbers.shown import facts_of, kind_of
from probe_effect.numbers.wanted import SuiteTurn, by_want, new_here, run_s
from probe_effect.store.places import PACKAGED, DataFolder, submissions_in
from probe_effect.store.transcripts import MECHANISMS, KernelMechanisms, MechanismTrial
from probe_effect.tracers.protocol import Tracer, TracerState, install_line
from probe_effect.tracers.tool import known_tracers


def run(data: DataFolder, output_format: str) -> bool:
    found = diagnose(choose_suites(data, []), known_tracers())
    if output_format == "json":
        values = TypeAdapter(Any).dump_python(found)
        output.product_json({"can_measure": found.can_measure, **values, "install": install_line(found.packages)})
        return found.can_measure
    no_tracefs = found.tracefs.reason  # which is in the facts, once
    lacking = ((need, reason) for need, reason in found.kernel.items() if reason and reason != no_tracefs)
    show_section("This machine", facts(found))
    show_section("Tracers", (_tracer(one, no_tracefs) for one in found.tracers))
    show_section("What this kernel lacks", lacking)
    show_section("Suites, and how many of their cases can be measured here", map(_suite, found.suites))
    show_section("What makes it noisy", noise(found))
    show_commands("What to do", _advice(found))
    return found.can_measure


def mount() -> None:
    """Mount what is missing of tracefs and debugfs, for everybody, and say it. Raises: HostNotReady."""
    try:
        new = mount_for_good()
    except OSError as refusal:
        msg = f"{refusal.filename or 'mount'}: {refusal.strerror}. Expected root outside of a container"
        raise HostNotReady(msg) from refusal
    output.say(f"mounted: {', '.join(new)}" if new else "nothing to mount")


def facts(found: Diagnosis) -> Iterator[tuple[str, str]]:
    machine, system = found.machine, found.system
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
    yield "user", "root" if found.is_root else "not root"
    yield "C compiler", _answer(found.compiler)
    yield "tracefs", _answer(found.tracefs)
    tracers = "the same" if found.tracer_cpu is None else f"CPU {found.tracer_cpu}"
    yield "pinning", f"workload to CPU {found.workload_cpu}, tracers to {tracers}"
    yield "clock", f"{system.clocksource or 'not known'}, a read takes {units.duration(system.clock_read_ns)}"
    yield "load", f"{units.MISSING if found.load is None else found.load} (average of a minute)"
    yield "steal", f"{units.percent(found.steal_ratio)} of CPU {found.workload_cpu}'s time since the machine started"
    yield "ASLR", found.aslr or "not known"
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


def noise(found: Diagnosis) -> Iterator[tuple[str, str]]:
    for warning in found.warnings:
        yield warning.id, f"{warning.found[0].upper()}{warning.found[1:]}. {warning.why}\nTo do: {warning.advice}."


def _advice(found: Diagnosis) -> Iterator[tuple[str, str]]:
    if install := install_line(found.packages):
        yield "install what is missing", install
    elif found.packages:
        yield "install what is missing; by Debian's names it is", " ".join(found.packages)
    if not found.is_root:
        yield "see what root can measure", f"sudo {shlex.quote(sys.argv[0])} doctor"
    if not found.can_measure:
        yield "nothing can be measured as it is; when the reasons above are mended", typed("doctor")
        return
    yield "measure what the site lacks most, in your time", typed("lend", "--minutes", "60")
    yield "see that plan without measuring", typed("lend", "--dry-run")


USUAL_RUN_S = 0.8
"""Of a run with its tracer's start and end, in a suite that nobody has measured."""

LEAST_RUN_S = 0.2


def tracers_here() -> dict[str, Tracer]:
    """The tracers that this system may have: outside of Linux DTrace alone."""
    known = known_tracers()
    return known if platform.system() == "Linux" else {name: one for name, one in known.items() if one.tool == "dtrace"}


def works_here(data: DataFolder) -> list[Work]:
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
    for one in turns:
        how = f"{one.blocks} blocks{', quick' if one.is_quick else ''}"
        first = f", {len(one.first)} that no machine has" if one.first else ""
        new = f"{len(one.own)} new on such a machine{first}" if one.own else "such a machine has all of them"
        cases = f"{one.cases} case{'s' if one.cases > 1 else ''}"
        rows.append((one.suite, f"{max(1, round(one.takes_s / MINUTE_S))} min, {how}", f"{cases}, {new}"))
    show_section(title, rows, aside=aside)


SIP = "boot into Recovery, run `csrutil enable --without dtrace`, and start again; afterwards `csrutil enable`"


def show_look(data: DataFolder, *, aside: bool) -> None:
    found = diagnose(choose_suites(data, []), tracers_here())
    brief = [row for row in facts(found) if row[0] in {"CPU", "virtual", "system", "user"}]
    brief += [("tracers", ", ".join(one.tracer for one in found.tracers if one.unavailable is None) or "none")]
    if lacking := [need for need, reason in found.kernel.items() if reason]:
        brief += [("lacks", f"{', '.join(lacking)} of the kernel; {typed('doctor')} says why")]
    if found.packages:
        brief += [("install", install_line(found.packages) or " ".join(found.packages))]
    if protection := integrity_protection():
        brief += [("macOS", protection)]
    quieter, cpu = [*noise(found)], found.workload_cpu
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


TRIALS = Path(str(guests.__file__)).with_name("mechanisms.c")
"""The program that tries mechanisms. Of each it prints id, outcome, number of the error, and words, parted by tabs."""

ERRORS = dict(errno.errorcode) | {524: "ENOTSUPP"}
"""The kernel's own errors too (include/linux/errno.h)."""


def try_mechanisms(words: str, architecture: str, output_format: str) -> None:
    """Print which mechanisms of tracing a kernel has, each tried in an emulated machine.

    Raises: UsageError, HostNotReady.
    """
    cache = own_cache(CACHE)
    with locked(cache):
        kernel = find_kernel(words, cache, ARCHITECTURES[architecture])
        assembly = assemble(ARCHITECTURES[architecture], kernel, (), (), cache, more=(TRIALS,))
    output.say(f"booting {kernel.origin}")
    with EmulatedMachine(assembly, (), output.say) as machine:
        release, lines = machine.mechanisms(assembly.programs[TRIALS].path)
    document = KernelMechanisms(
        kernel_release=release,
        architecture=assembly.emulator.architecture.machine,  # type: ignore[arg-type]
        kernel=assembly.packages["kernel"],
        emulator=str(assembly.emulator.version()),
        probe_effect=__version__,
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        trials=dict(map(mechanism_trial, lines)),
    )
    if output_format == "json":
        output.product_json(document.model_dump())
        return
    rows = (
        (MECHANISMS[name]["name"], *map(str, filter(None, (one.outcome, one.error, one.says))))
        for name, one in document.trials.items()
    )
    show_section(f"Mechanisms of tracing on {document.kernel_release}", rows)


def mechanism_trial(line: str) -> tuple[str, MechanismTrial]:
    name, outcome, code, says = line.split("\t", 3)
    error = None if code == "0" or outcome == "ended" else ERRORS.get(int(code), f"E{code}")
    return name, MechanismTrial.model_validate({"outcome": outcome, "error": error, "says": says.strip() or None})
