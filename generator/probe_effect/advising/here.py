"""This machine and a script's probes on it: facts, costs of measured cases here, what is to be counted and where.

A uprobe on a stepped instruction takes ten times as long as one on an instruction that the kernel emulates. At millions
of calls a second nothing is left of the program while it is counted. Every call passes the instructions up to the first
branch once. So one of these that is emulated counts as well, if no jump of the function goes back to them.

While user probes are in a library that all programs map, each start of a program costs more, though no event fires for
it. The kernel writes each breakpoint into every process that maps the file. It copies the page, and from then on a fork
copies the page table of the library too.
"""

import contextlib
import os
import re
import resource
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple, get_args

import capstone
import numpy as np

from probe_effect.advising.calibrate import CalibrationTask, PlacedProbe, by_mechanism, calibrated, mechanism_at
from probe_effect.advising.moved import AskedProbe
from probe_effect.answer.question import ANY_THREAD, Question
from probe_effect.answer.spread import spread_of
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.instructions import mechanism
from probe_effect.costs.machine import ON_CALLS
from probe_effect.costs.table import STARTS, ProbeGroup
from probe_effect.host import ROOT, read_text, run_program
from probe_effect.host.kernel import mount_for_our_time
from probe_effect.host.symbols import FIRST_BYTES, code_at, matching_functions
from probe_effect.live.attachment import Attachments, Countable, CountableProbe
from probe_effect.live.count import CountResult, ProbeRate
from probe_effect.live.places import EVERY_CALL, Place, same_function_elsewhere
from probe_effect.model import Estimate, HostNotReady, UsageError, interval_json
from probe_effect.numbers import estimates
from probe_effect.numbers.estimates import Floats, multiplied
from probe_effect.numbers.shown import Facts
from probe_effect.numbers.submission import slowdown_at
from probe_effect.scripts.clauses import matches_many
from probe_effect.scripts.form import NO_EVENTS, PRINT, shortened
from probe_effect.scripts.script import Script, read_script
from probe_effect.store.suite_file import script_path
from probe_effect.tracers.bpftrace import Bpftrace
from probe_effect.units import NS_PER_SECOND

COMPILE_S = 60.0


def complaint(script: str) -> str | None:
    """Why bpftrace does not compile a script, in its words; None where it does, and where it cannot be asked.

    bpftrace is asked for the compiled program alone, which attaches nothing.
    """
    program = shutil.which("bpftrace")
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "--emit-elf", str(Path(folder, "program")), "-e", script]
        try:
            ended = run_program(command, COMPILE_S)
        except (OSError, subprocess.TimeoutExpired):
            return None
    is_refused = ended.returncode and "ERROR" in ended.stderr and "root user" not in ended.stderr
    return ended.stderr.strip() if is_refused else None


TOOL = "bpftrace"


class PredictedHere(NamedTuple):
    """The cost of one event of a case, ns, and the slowdown at the rate that was asked for, as a ratio."""

    case: str
    cost: Estimate
    slowdown: Estimate

    def as_json(self) -> dict[str, Any]:
        return {
            "case": self.case,
            **interval_json(self.cost, "cost", "ns"),
            **interval_json(self.slowdown, "slowdown", "ratio"),
        }


def predicted_here(evidence: Evidence, question: Question) -> list[PredictedHere]:
    """Each case of a question, measured on this machine now.

    Raises: HostNotReady where a case has no script of bpftrace, or cannot be timed here.
    """
    mount_for_our_time()
    predicted = []
    for asked in question.probes:
        suite, case = evidence.of[asked.case]
        path = script_path(evidence.folders[suite.id], asked.case, TOOL) if suite.id in evidence.folders else None
        if path is None:
            raise HostNotReady(f"{asked.case}: it has no script of bpftrace, and no other can be timed here")
        script = read_script(path.read_text(encoding="utf-8"))
        events = [(at, probe) for at, probe in enumerate(script.probes) if probe.kind not in NO_EVENTS]
        probes = [
            # A static probe is at its name; a function is one of a workload that does not run.
            AskedProbe(
                at, (probe.attach, None), probe.kind, (Place(kind=probe.kind, name=probe.attach.partition(":")[2]),)
            )
            for at, probe in events
        ]
        costs = calibrated(CalibrationTask(script=script, probes=probes, tool=Bpftrace()))
        if costs.missing:
            raise HostNotReady("; ".join(costs.missing.values()))
        cost = estimates.total([here_cost.on({}) for here_cost in costs.costs.values()])
        apart = spread_of(evidence, TOOL, events[0][1].kind, [case.action])
        slowdown = slowdown_at(multiplied(cost, apart.factor) if apart else cost, asked.rate_hz)
        predicted.append(PredictedHere(asked.case, cost, slowdown))
    return predicted


BRANCH = re.compile(
    r"(?:bnd |notrack )?(?:j\w+|loop\w*|call|ret\w*|b|b\.\w+|bl|blr|br|cbn?z|tbn?z|syscall|svc|ud2|hlt|udf)$"
)
"""Instructions after which another than the next may follow, on x86-64 and on arm64."""

JUMP = re.compile(r"(?:bnd |notrack )?(?:j\w+|loop\w*|b|b\.\w+|br|cbn?z|tbn?z)$")
TARGET = re.compile(r"#?(0x[0-9a-f]+)$")

MODES = {
    "x86_64": (capstone.CS_ARCH_X86, capstone.CS_MODE_64),
    "aarch64": (capstone.CS_ARCH_ARM64, capstone.CS_MODE_LITTLE_ENDIAN),
}


class CodeInstruction(NamedTuple):
    """An instruction of a function: its offset in the file, its bytes, its name, and its operands as text."""

    offset: int
    size: int
    name: str
    operands: str


def with_less_cost(countable: Countable, here: Facts) -> Countable:
    """What counts the same events at less cost; the same where nothing does.

    A function returns as often as it is called, so that its returns are counted at its calls.
    """
    if countable.kind == "uretprobe":
        countable = replace(countable, kind="uprobe")
    if countable.mechanism != "stepped" or countable.path is None or len(countable.offsets) != 1:
        return countable
    offset = counting_offset(countable.path, countable.offsets[0], here)
    return countable if offset is None else replace(countable, kind="uprobe", offsets=(offset,), mechanism="emulated")


@cache
def counting_offset(path: Path, offset: int, here: Facts) -> int | None:
    """The offset in an ELF file at which calls of the function at `offset` are counted; None for that itself.

    The kernel of the machine decides which instructions it emulates.
    """
    code = code_at(path, offset)
    if here.architecture not in MODES:
        return None
    disassembler = capstone.Cs(*MODES[here.architecture])
    function = list(map(CodeInstruction._make, disassembler.disasm_lite(code, offset)))
    if sum(instruction.size for instruction in function) < len(
        code
    ):  # what follows bytes that are no instruction is not known
        return None
    straight = [*takewhile(lambda instruction: not BRANCH.match(instruction.name), function)]
    after = function[len(straight) : len(straight) + 1]
    jumps = [instruction for instruction in function if JUMP.match(instruction.name)]
    targets = [TARGET.search(instruction.operands) for instruction in jumps]
    if not all(targets):  # a jump to where a register says may go anywhere
        return None
    last = min((at for target in targets if target and (at := int(target[1], 16)) > offset), default=offset + len(code))
    for instruction in [*straight, *after][1:]:
        first_bytes = code[instruction.offset - offset :][:FIRST_BYTES]
        if (
            instruction.offset < last
            and mechanism(first_bytes.hex(" "), here.architecture, here.kernel_release) == "emulated"
        ):
            return instruction.offset
    return None


COUNTED_AS: dict[str, CountableProbe] = {
    **{kind: kind for kind in get_args(CountableProbe)},
    "fentry": "kprobe",
    "fexit": "kretprobe",
}
"""Kind of probe to that which counts where it fires; every other is counted as a static probe of the kernel."""

CALLS = "system calls"
"""What all system calls are counted as, for probes on some of them make all of them slower."""

WRITES = {
    "syscalls:sys_enter_write",
    "syscalls:sys_exit_write",
    "raw_syscalls:sys_enter",
    "raw_syscalls:sys_exit",
}
"""Static probes that fire as a tracer writes its lines."""

MOST_ELSEWHERE = 3
MOST_NAMED, LONGEST_NAME = 10, 200
"""Probes that a message lists, and how much of the name of each."""

MOST_READ = 200
"""Functions of one attach point whose code is read for a place where counting costs less; each takes 1 to 2 ms."""


def countables(probes: Sequence[PlacedProbe], here: Facts) -> list[Countable]:
    """What is to be counted: each place once, and all system calls where the script has probes on some."""
    all_countables = []
    for probe in probes:
        kind = COUNTED_AS.get(probe.probe.kind, "tracepoint")
        if probe.probe.hz is not None:
            all_countables.append(Countable(probe=probe.counted_name(None), kind=kind, hz=probe.probe.hz))
        for probe_site in probe.places:
            at_place = Countable(
                probe=probe.counted_name(probe_site),
                kind=kind,
                name=probe_site.name,
                path=probe_site.path,
                offsets=() if probe_site.offset is None else (probe_site.offset,),
                semaphore=probe_site.semaphore_offset or 0,
                mechanism=mechanism_at(probe_site, here.architecture, here.kernel_release),
            )
            all_countables.append(with_less_cost(at_place, here) if len(probe.places) <= MOST_READ else at_place)
    if any(probe.probe.kind in ON_CALLS and probe.places for probe in probes):
        all_countables.append(Countable(probe=CALLS, kind="tracepoint", name=EVERY_CALL.partition(":")[2]))
    return all_countables


def called_elsewhere(
    probes: Iterable[PlacedProbe], counted: CountResult | None, pid: int | None
) -> Iterator[tuple[str, str]]:
    """Attach points of functions that never fired in a process, each with one like it in another of its files."""
    if counted is None or pid is None:
        return
    silent = {rate.probe for rate in counted.rates if not rate.events}
    for probe in probes:
        for probe_site in probe.places:
            if probe_site.kind in {"uprobe", "uretprobe"} and probe.counted_name(probe_site) in silent:
                for path in same_function_elsewhere(probe_site, pid)[:MOST_ELSEWHERE]:
                    yield probe.probe.attach, f"{probe_site.kind}:{path}:{probe_site.name}"


def groups(
    probes: Iterable[PlacedProbe], counted: CountResult | None, given_hz: Mapping[str, float], here: Facts
) -> list[ProbeGroup]:
    """The probes of each attach point by how they fire, with their rates.

    `given_hz`: attach point to the rate that somebody gave, events/s in one thread. `here`: this machine, whose kernel
    decides how a user probe fires. Raises: UsageError for a rate of a probe that the script has not.
    """
    placed_probes = list(probes)
    if unknown := given_hz.keys() - {probe.probe.attach for probe in placed_probes}:
        has = list(dict.fromkeys(probe.probe.attach[:LONGEST_NAME] for probe in placed_probes))
        more = f" and {len(has) - MOST_NAMED} more" if len(has) > MOST_NAMED else ""
        listed = ", ".join(has[:MOST_NAMED]) + more
        msg = f"--rate {shortened(unknown.pop())}: the script has no such probe; it has {listed}"
        raise UsageError(msg)
    rates = {} if counted is None else {rate.probe: rate for rate in counted.rates}
    return [group for probe in placed_probes for group in _groups(probe, rates, given_hz.get(probe.probe.attach), here)]


def starts(counted: CountResult) -> ProbeGroup | None:
    """The starts of programs with their rate, as a group of events; None where nobody counted them."""
    rate = next((probe_rate for probe_rate in counted.rates if probe_rate.probe == STARTS), None)
    if rate is None:
        return None
    return ProbeGroup(
        attach=STARTS,
        kind="start",
        rates_hz=dict(rate.thread_hz),
        rate_hz=rate.hz,
        rate_low_hz=rate.low_hz,
        rate_high_hz=rate.high_hz,
        busiest_hz=rate.busiest_hz,
    )


def _groups(
    probe: PlacedProbe, rates: Mapping[str, ProbeRate], given_hz: float | None, here: Facts
) -> Iterator[ProbeGroup]:
    for how, its in by_mechanism(probe.places, here.architecture, here.kernel_release).items():
        names = [probe.counted_name(probe_site) for probe_site in its] or [probe.counted_name(None)]
        seen = [rates[name] for name in names if name in rates]
        first = its[0].first_bytes if len(its) == 1 else None
        threads: dict[int, float] | None = None
        rate_hz = given_hz
        if given_hz is not None:
            threads = {ANY_THREAD: given_hz}
        elif seen:
            rate_hz, threads = sum(rate.hz for rate in seen), {}
            for tid, hz in (item for rate in seen for item in rate.thread_hz.items()):
                threads[tid] = threads.get(tid, 0.0) + hz
        yield replace(
            ProbeGroup.of(probe.probe),
            mechanism=how,
            matched=len(its) or (None if matches_many(probe.probe.attach) else 1),
            first_bytes=first.hex(" ") if first else None,
            rates_hz=threads,
            rate_hz=rate_hz,
            events_by_cpu=events_by_cpu(seen),
            rate_low_hz=_all(rate.low_hz for rate in seen) if given_hz is None else None,
            rate_high_hz=_all(rate.high_hz for rate in seen) if given_hz is None else None,
            busiest_hz=_all(rate.busiest_hz for rate in seen) if given_hz is None else None,
            why=probe.why or "; ".join(dict.fromkeys(rate.note for rate in seen if rate.note)) or None,
        )


def events_by_cpu(rates: Iterable[ProbeRate]) -> dict[int, int]:
    events: Counter[int] = Counter()
    for rate in rates:
        events.update(rate.by_cpu)
    return {cpu: number for cpu, number in events.most_common() if number}


def fires_itself(probe: PlacedProbe, script: Script) -> bool:
    """Whether what a probe prints is written by a system call that fires it again.

    strace, perf trace and the like leave themselves out, or trace only whom they are told.
    """
    if script.language not in {"bpftrace", "d"}:
        return False
    prints = PRINT in probe.probe.actions and script.pid_filter is None and not probe.probe.has_filter
    return prints and any(probe_site.name in WRITES for probe_site in probe.places)


def _all(values: Iterable[float | None]) -> float | None:
    """The sum of values; None without any, or if one of them is not known."""
    all_values = list(values)
    return None if not all_values or None in all_values else sum(value for value in all_values if value is not None)


MAPPED_BY_ALL = re.compile(r"(?:libc|ld)[.-].*so")
"""Files of the C library, and of the loader, which every program maps that is linked with them."""

UNCALLED = ("strptime", "wcsftime", "regcomp")
"""Functions of the C library that a plain start does not call, so that no event's cost is in what is measured."""

START_ROUNDS, SHELL_STARTS = 24, 15
SHELL = f"i=0; while [ $i -lt {SHELL_STARTS} ]; do /bin/true; i=$((i + 1)); done"

NOWHERE = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
"""What is done to the shell's streams: they are nobody's."""


def mapped_by_all(paths: Iterable[Path | None]) -> Path | None:
    """The first file that every program maps, as we do; None without one. A copy of it, or a container's, is none."""
    ours = {line.split(maxsplit=5)[-1] for line in (read_text(ROOT, "proc/self/maps") or "").splitlines()}
    named = (path for path in paths if path is not None and MAPPED_BY_ALL.match(path.name))
    return next((path for path in named if str(path.resolve()) in ours), None)


def start_cost(path: Path) -> Estimate | None:
    """CPU time, ns, that a probe in `path` adds to a fork and a start; None where it has no function to probe.

    Where the starts with the probe took less, other work hid what it adds: up to as much as they took less.

    Raises: OSError, HostNotReady where the kernel refuses.
    """
    functions = (matching_functions(path, name).get(name) for name in UNCALLED)
    function = next(filter(None, functions), None)
    if function is None:
        return None
    probe = Countable(probe="", kind="uprobe", path=path, offsets=(function.offset,))
    with_ns, without_ns = [], []
    with contextlib.closing(Attachments([probe], [os.getpid()], follow=False)) as attachments:
        for _ in range(START_ROUNDS):
            with_ns.append(_start_ns())
            attachments.detach()
            without_ns.append(_start_ns())
            attachments.attach()
    return added(np.array(with_ns) - np.array(without_ns))


def added(differences_ns: Floats) -> Estimate:
    """What is added, ns, by the rounds' differences: never below 0, nor exactly 0 with an interval of no width."""
    value, low, high = estimates.estimate(differences_ns)
    if low is None or high is None:
        return Estimate(max(0.0, value))
    return Estimate(max(0.0, value), max(0.0, low), high if high > 0 else -low)


def _start_ns() -> float:
    """CPU time, ns, of a fork of a shell and the start of a program that does nothing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", SHELL], {}, file_actions=NOWHERE), 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return taken_s * NS_PER_SECOND / SHELL_STARTS
