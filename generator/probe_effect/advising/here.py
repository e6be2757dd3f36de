"""This machine and a script's probes on it: facts, costs of measured cases here, what is to be counted and where.

A uprobe on a stepped instruction takes ten times as long as one on an instruction that the kernel emulates. At millions
of calls a second nothing is left of the program while it is counted. Every call passes the instructions up to the first
branch once. So one of these that is emulated counts as well, if no jump of the function goes back to them.
"""

import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple, get_args

import capstone

from probe_effect.advising.calibrate import CalibrationTask, PlacedProbe, by_mechanism, calibrated, mechanism_at
from probe_effect.advising.moved import AskedProbe
from probe_effect.answer.question import Question
from probe_effect.answer.spread import spread_of
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.instructions import mechanism
from probe_effect.costs.machine import ON_CALLS
from probe_effect.costs.table import STARTS, ProbeGroup
from probe_effect.host import run_program
from probe_effect.host.kernel import mount_for_our_time
from probe_effect.host.symbols import FIRST_BYTES, code_at
from probe_effect.live.attachment import Countable, CountableProbe
from probe_effect.live.count import CountResult, ProbeRate
from probe_effect.live.places import EVERY_CALL, Place, same_function_elsewhere
from probe_effect.model import Estimate, HostNotReady, UsageError, interval_json
from probe_effect.numbers import estimates
from probe_effect.numbers.estimates import multiplied
from probe_effect.numbers.shown import Facts
from probe_effect.numbers.submission import slowdown_at
from probe_effect.scripts.clauses import matches_many
from probe_effect.scripts.form import NO_EVENTS, PRINT, shortened
from probe_effect.scripts.script import Script, read_script
from probe_effect.store.suite_file import script_path
from probe_effect.tracers.bpftrace import Bpftrace

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
        """The case with its cost and its slowdown as JSON values, each with its interval."""
        return {
            "case": self.case,
            **interval_json(self.cost, "cost", "ns"),
            **interval_json(self.slowdown, "slowdown", "ratio"),
        }


def predicted_here(found: Evidence, question: Question) -> list[PredictedHere]:
    """Each case of a question, measured on this machine now.

    Raises: HostNotReady where a case has no script of bpftrace, or cannot be timed here.
    """
    mount_for_our_time()
    return [_timed(found, asked.case, asked.rate_hz) for asked in question.probes]


def _timed(found: Evidence, case: str, rate_hz: float) -> PredictedHere:
    suite, known = found.of[case]
    path = script_path(found.folders[suite.id], case, TOOL) if suite.id in found.folders else None
    if path is None:
        msg = f"{case}: it has no script of bpftrace, and no other can be timed here"
        raise HostNotReady(msg)
    script = read_script(path.read_text(encoding="utf-8"))
    events = [(at, one) for at, one in enumerate(script.probes) if one.kind not in NO_EVENTS]
    task = CalibrationTask(
        script=script,
        probes=[
            # A static probe is at its name; a function is one of a workload that does not run.
            AskedProbe(at, (one.attach, None), one.kind, (Place(kind=one.kind, name=one.attach.partition(":")[2]),))
            for at, one in events
        ],
        tool=Bpftrace(),
    )
    costs = calibrated(task)
    if costs.missing:
        raise HostNotReady("; ".join(costs.missing.values()))
    cost = estimates.total([one.on({}) for one in costs.costs.values()])
    apart = spread_of(found, TOOL, events[0][1].kind, [known.action])
    return PredictedHere(case, cost, slowdown_at(multiplied(cost, apart.factor) if apart else cost, rate_hz))


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


def with_less_cost(one: Countable, here: Facts) -> Countable:
    """What counts the same events at less cost; the same where nothing does.

    A function returns as often as it is called, so that its returns are counted at its calls.
    """
    if one.kind == "uretprobe":
        one = replace(one, kind="uprobe")
    if one.mechanism != "stepped" or one.path is None or len(one.offsets) != 1:
        return one
    offset = counting_offset(one.path, one.offsets[0], here)
    return one if offset is None else replace(one, kind="uprobe", offsets=(offset,), mechanism="emulated")


@cache
def counting_offset(path: Path, offset: int, here: Facts) -> int | None:
    """The offset in an ELF file at which calls of the function at `offset` are counted; None for that itself.

    The kernel of the machine decides which instructions it emulates.
    """
    code = code_at(path, offset)
    function = list(_disassembled(code, offset, here.architecture))
    if sum(one.size for one in function) < len(code):  # what follows bytes that are no instruction is not known
        return None
    straight = [*takewhile(lambda one: not BRANCH.match(one.name), function)]
    after = function[len(straight) : len(straight) + 1]
    jumps = [one for one in function if JUMP.match(one.name)]
    targets = [TARGET.search(one.operands) for one in jumps]
    if not all(targets):  # a jump to where a register says may go anywhere
        return None
    last = min((at for found in targets if found and (at := int(found[1], 16)) > offset), default=offset + len(code))
    for one in [*straight, *after][1:]:
        first_bytes = code[one.offset - offset :][:FIRST_BYTES]
        if one.offset < last and mechanism(first_bytes.hex(" "), here.architecture, here.kernel_release) == "emulated":
            return one.offset
    return None


def _disassembled(code: bytes, offset: int, architecture: str) -> Iterator[CodeInstruction]:
    if architecture in MODES:
        yield from map(CodeInstruction._make, capstone.Cs(*MODES[architecture]).disasm_lite(code, offset))


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

ANY = 0
"""The id of a thread that stands for any: no thread has it."""


def countables(probes: Iterable[PlacedProbe], here: Facts) -> list[Countable]:
    """What is to be counted: each place once, and all system calls where the script has probes on some."""
    found = [one for probe in probes for one in _countables(probe, here)]
    if any(probe.probe.kind in ON_CALLS and probe.places for probe in probes):
        found.append(Countable(probe=CALLS, kind="tracepoint", name=EVERY_CALL.partition(":")[2]))
    return found


def _countables(one: PlacedProbe, here: Facts) -> Iterator[Countable]:
    kind = COUNTED_AS.get(one.probe.kind, "tracepoint")
    if one.probe.hz is not None:
        yield Countable(probe=one.counted_name(None), kind=kind, hz=one.probe.hz)
    for place in one.places:
        at_place = Countable(
            probe=one.counted_name(place),
            kind=kind,
            name=place.name,
            path=place.path,
            offsets=() if place.offset is None else (place.offset,),
            semaphore=place.semaphore_offset or 0,
            mechanism=mechanism_at(place, here.architecture, here.kernel_release),
        )
        yield with_less_cost(at_place, here) if len(one.places) <= MOST_READ else at_place


def called_elsewhere(
    probes: Iterable[PlacedProbe], counted: CountResult | None, pid: int | None
) -> Iterator[tuple[str, str]]:
    """Attach points of functions that never fired in a process, each with one like it in another of its files."""
    if counted is None or pid is None:
        return
    silent = {rate.probe for rate in counted.rates if not rate.events}
    for one in probes:
        for place in one.places:
            if place.kind in {"uprobe", "uretprobe"} and one.counted_name(place) in silent:
                for path in same_function_elsewhere(place, pid)[:MOST_ELSEWHERE]:
                    yield one.probe.attach, f"{place.kind}:{path}:{place.name}"


def groups(
    probes: Iterable[PlacedProbe], counted: CountResult | None, given_hz: Mapping[str, float], here: Facts
) -> list[ProbeGroup]:
    """The probes of each attach point by how they fire, with their rates.

    `given_hz`: attach point to the rate that somebody gave, events/s in one thread. `here`: this machine, whose kernel
    decides how a user probe fires. Raises: UsageError for a rate of a probe that the script has not.
    """
    known = list(probes)
    if unknown := given_hz.keys() - {one.probe.attach for one in known}:
        has = list(dict.fromkeys(one.probe.attach[:LONGEST_NAME] for one in known))
        more = f" and {len(has) - MOST_NAMED} more" if len(has) > MOST_NAMED else ""
        listed = ", ".join(has[:MOST_NAMED]) + more
        msg = f"--rate {shortened(unknown.pop())}: the script has no such probe; it has {listed}"
        raise UsageError(msg)
    rates = {} if counted is None else {one.probe: one for one in counted.rates}
    return [group for one in known for group in _groups(one, rates, given_hz.get(one.probe.attach), here)]


def starts(counted: CountResult) -> ProbeGroup | None:
    """The starts of programs with their rate, as a group of events; None where nobody counted them."""
    rate = next((one for one in counted.rates if one.probe == STARTS), None)
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
    one: PlacedProbe, rates: Mapping[str, ProbeRate], given_hz: float | None, here: Facts
) -> Iterator[ProbeGroup]:
    for how, its in by_mechanism(one.places, here.architecture, here.kernel_release).items():
        names = [one.counted_name(place) for place in its] or [one.counted_name(None)]
        seen = [rates[name] for name in names if name in rates]
        first = its[0].first_bytes if len(its) == 1 else None
        threads = {ANY: given_hz} if given_hz is not None else _sum(rate.thread_hz for rate in seen) if seen else None
        yield replace(
            ProbeGroup.of(one.probe),
            mechanism=how,
            matched=len(its) or (None if matches_many(one.probe.attach) else 1),
            first_bytes=first.hex(" ") if first else None,
            rates_hz=threads,
            rate_hz=given_hz if given_hz is not None else sum(rate.hz for rate in seen) if seen else None,
            events_by_cpu=events_by_cpu(seen),
            rate_low_hz=_all(rate.low_hz for rate in seen) if given_hz is None else None,
            rate_high_hz=_all(rate.high_hz for rate in seen) if given_hz is None else None,
            busiest_hz=_all(rate.busiest_hz for rate in seen) if given_hz is None else None,
            why=one.why or "; ".join(dict.fromkeys(rate.note for rate in seen if rate.note)) or None,
        )


def events_by_cpu(rates: Iterable[ProbeRate]) -> dict[int, int]:
    """How often probes fired on each CPU, those of most events first."""
    events: Counter[int] = Counter()
    for one in rates:
        events.update(one.by_cpu)
    return {cpu: number for cpu, number in events.most_common() if number}


def fires_itself(one: PlacedProbe, script: Script) -> bool:
    """Whether what a probe prints is written by a system call that fires it again.

    strace, perf trace and the like leave themselves out, or trace only whom they are told.
    """
    if script.language not in {"bpftrace", "d"}:
        return False
    prints = PRINT in one.probe.actions and script.pid_filter is None and not one.probe.has_filter
    return prints and any(place.name in WRITES for place in one.places)


def _sum(rates: Iterable[Mapping[int, float]]) -> dict[int, float]:
    found: dict[int, float] = {}
    for one in rates:
        for tid, hz in one.items():
            found[tid] = found.get(tid, 0.0) + hz
    return found


def _all(values: Iterable[float | None]) -> float | None:
    """The sum of values; None without any, or if one of them is not known."""
    found = list(values)
    known = [one for one in found if one is not None]
    return sum(known) if found and len(known) == len(found) else None
