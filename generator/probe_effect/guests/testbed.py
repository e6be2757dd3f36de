"""An emulated machine as a testbed: booted when it is needed, started again when it is lost, off when we leave.

One may be booted too to see which mechanisms of tracing its kernel has.
"""

import errno
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self, get_args

from pydantic import TypeAdapter

from probe_effect import __version__
from probe_effect.guests.anatomy import PathRecorder
from probe_effect.guests.assembly import Assembly, GuestTracer, Wanted, assemble
from probe_effect.guests.debian import ARCHITECTURES, GUESTS, find_kernel, locked
from probe_effect.guests.guest import WORKLOADS, Message, load_message, run_request
from probe_effect.guests.qemu import CPUS, MODES, Accelerator, GuestLost, KvmUnusable, RunningGuest
from probe_effect.host import this_machine
from probe_effect.host.compilers import CompiledProgram
from probe_effect.host.load import CpuTimes, cpu_times
from probe_effect.host.system import signature
from probe_effect.host.workloads import WorkloadTask
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, empty_row
from probe_effect.measure.request import Work
from probe_effect.measure.testbed import Origins, Testbed
from probe_effect.model import HostNotReady, Metric, Need, Sample
from probe_effect.records import TOOLS
from probe_effect.store.machine_file import KVM_GUEST, TCG_GUEST, Machine, System, runs_add_up, with_id
from probe_effect.store.result_tables import TIMES, EventPath, as_note
from probe_effect.store.tables import printable
from probe_effect.store.transcripts import KernelMechanisms, MechanismTrial
from probe_effect.tracers.protocol import TracerState

LOSSES = 3  # guests that may be lost one after the other, without a run between that ends, before we give up
RELEASE_FILE, RELEASE = "proc/sys/kernel/osrelease", re.compile(r"\d[\w.+~-]*")

ROW, STATE, FUNCTIONS = TypeAdapter(Sample), TypeAdapter(TracerState), TypeAdapter(dict[str, str])
"""Answers, which whatever runs in the guest may have given."""

LEAST_EVENTS = 10_000
"""Fewest events of a trial by which its runs of programs are divided: some dozens of runs are of other processes."""


@dataclass(slots=True)
class EmulatedMachine(Testbed):
    """The testbed. Use it as a context manager: what runs is ended with it.

    Limits are in seconds of the host: a busy one emulates ten times more slowly than a quiet one.
    """

    assembly: Assembly
    wanted: Sequence[Wanted]
    tell: Callable[[str], None]
    accelerator: Accelerator = "tcg"
    boot_s: float = MODES["tcg"].boot_s
    answer_s: float = 300.0
    """Limit of one run: a quiet host needs 3 s, a busy one 40 s for the slowest tracer. Now and then a guest hangs."""
    recorder: PathRecorder | None = None
    """The recorder of the paths of events; None: they are not recorded."""
    _host_cpus: tuple[int, int | None] = (0, None)
    _guest: RunningGuest | None = None
    _is_spoilt: bool = False
    _lost: int = 0
    _tracers: dict[str, GuestTracer] = field(default_factory=dict)
    _files: dict[str, str] = field(default_factory=dict)
    _mechanisms: dict[str, str | None] = field(default_factory=dict)
    _program_runs: dict[str, float] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self._host_cpus = this_machine.choose_cpus()  # while we may use all: later we keep to one ourselves
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    @property
    def metric(self) -> Metric:
        """Instructions where they are what the clock counts; times where the host's CPU executes the guest itself."""
        return "instructions" if MODES[self.accelerator].counts else "time"

    def tracers(self) -> dict[str, GuestTracer]:
        """Tracer id to tracer, as they describe themselves inside. Raises: HostNotReady when it does not boot."""
        if not self._tracers:
            with _understood():
                for answer in self._survey()["tracers"]:
                    tool, state = TOOLS[answer.pop("tool")].name, STATE.validate_python(answer)
                    self._tracers[state.tracer] = GuestTracer(id=state.tracer, tool=tool, said=state)
        return self._tracers

    def cpus(self, work: Work) -> tuple[int, int | None]:
        return CPUS - 1, 0

    @contextmanager
    def held(self, cpus: tuple[int, int | None]) -> Iterator[None]:
        """Hold the guest, which is ours alone; while times are taken, no other measurement runs on this machine."""
        self._mechanisms, self._program_runs = {}, {}  # each suite has its own
        if self.recorder:
            self.recorder.begin()
        with Testbed().held(self._host_cpus) if self.metric == "time" else nullcontext():
            yield

    def program(self, work: Work) -> CompiledProgram:
        return self.assembly.programs[work.source()]

    def run(self, planned: PlannedRun, load: WorkloadTask, watch: TracerTask | None, limits: Limits) -> Sample:
        """The row of one run; a run during which the guest is lost is made once more, in a new one.

        Raises: HostNotReady when one guest after the other is lost.
        """
        before, self._is_spoilt = self._is_spoilt, watch is not None and TOOLS[watch.tracer.tool].spoils
        if before and not self._is_spoilt:
            self._end()  # the next question boots another, in which the tool never was
        cell = f"{planned.subject.case} {planned.subject.tracer}"
        request = run_request(planned, load, watch, limits, looking=cell not in self._mechanisms)
        try:
            answer = self._ask(request)
        except GuestLost as first:
            self.tell(f"{first}; started again")
            try:
                answer = self._ask(request)
            except GuestLost as second:
                return replace(empty_row(planned), status="failed", note=as_note(f"twice: {second}"))
        self._lost = 0
        if self.recorder:
            try:  # a guest that is lost is tried again at the next run
                self.recorder.record(planned.subject, request, self._ask)
            except GuestLost as lost:
                self.tell(f"{lost}; {planned.subject.case} with {planned.subject.tracer} was not recorded")
        with _understood():
            row = ROW.validate_python(answer["row"])
            if watch is not None:  # the first run is a trial, which is not counted
                self._mechanisms.setdefault(cell, answer["mechanism"])
                runs, events = answer["program_runs"], row.events or 0
                if cell not in self._program_runs and runs is not None and events >= LEAST_EVENTS:
                    self._program_runs[cell] = ratio = round(runs / events, 4)
                    if not runs_add_up(ratio):
                        words = f"the kernel ran its programs {ratio} times for each event, which is no whole number"
                        self.tell(f"{cell}: {words}")
            return row

    def recorded(self, row: Sample) -> Sample:
        """The row with the clock's reading as the instructions that it counts; times say nothing there."""
        if self.metric == "time":
            return replace(row, attach_instructions=None, detach_instructions=None)
        untimed: dict[str, Any] = dict.fromkeys(TIMES)
        return replace(row, instructions=row.wall_ns, histogram=(), **untimed)

    def machine(self) -> Machine:
        """What is emulated. Its id names the kernel, because that is what differs from one to the next.

        Where times are taken it names the CPU too, whose frequency is the host's affair, as is a hypervisor below it.
        """
        counts, told = self.metric == "instructions", dict[str, Any](virtualization=TCG_GUEST)
        if self.accelerator == "kvm":
            host = this_machine.collect_machine()
            told = {"virtualization": KVM_GUEST, "nested": host.virtualization is not None}
            told |= {"governor": host.governor, "turbo": host.turbo}
        with self._root() as root:
            machine = this_machine.collect_machine(root)
            counted = {"cpu_model": "QEMU tcg", "virtualization": f"linux {self._release}"}
            named = machine.model_copy(update=counted if counts else told)
            own = (*signature(root), str(self.assembly.emulator.version()))
            told["id"] = with_id(named, own, self._release).id
        return machine.model_copy(update=told | {"architecture": self.assembly.emulator.architecture.machine})

    def system(self, program: Path | None, cpu: int) -> System:
        """The guest's operating system; a read of a clock that counts instructions costs no time worth knowing."""
        is_timed = program is not None and self.metric == "time"
        asked = {"do": "clock", "program": f"{WORKLOADS}/{program and program.name}", "cpu": cpu}
        read_ns = self._ask(asked)["read_ns"] if is_timed else None
        with self._root() as root:
            return this_machine.collect_system(read_ns, root)

    def cores(self) -> dict[int, str]:
        return {}  # a guest's CPUs run on whichever of the host's are free

    def cpu_times(self, cpu: int) -> CpuTimes | None:
        """How the guest says that its CPU spent its time: what it had to wait for the host's CPU is steal."""
        with suppress(GuestLost):
            self._files = self._facts()
        with self._root() as root:
            return cpu_times(root, cpu)

    def functions(self, names: Sequence[str], load: WorkloadTask) -> dict[str, str]:
        request = {"do": "functions", "names": list(names), "load": load_message(load)}
        with _understood():
            return FUNCTIONS.validate_python(self._ask(request)["functions"])

    def mechanisms(self, program: Path) -> tuple[str, list[str]]:
        self._survey()
        request = {"do": "mechanisms", "program": f"{WORKLOADS}/{program.name}"}
        with _understood():
            return self._release, [str(line) for line in self._ask(request)["lines"]]

    def origins(self) -> Origins:
        ids = dict(zip((wanted.word for wanted in self.wanted), self.tracers(), strict=True))
        packages = {ids.get(name, name): origin for name, origin in self.assembly.packages.items()}
        emulator = self.assembly.emulator
        made = " ".join([str(emulator.version()), *emulator.options(self.accelerator)])
        host = {} if self.metric == "instructions" else {"host": f"Linux {os.uname().release}"}
        mechanisms = {cell: made for cell, made in sorted(self._mechanisms.items()) if made}
        return Origins(mechanisms, packages | {"emulator": made} | host, dict(sorted(self._program_runs.items())))

    def paths(self) -> Sequence[EventPath]:
        return self.recorder.events if self.recorder else ()

    @property
    def _release(self) -> str:
        """The kernel's release, which becomes part of a file's name. Raises: HostNotReady for none."""
        release = self._files.get(RELEASE_FILE, "").strip()
        if not RELEASE.fullmatch(release):
            msg = f"the emulated machine has the kernel's release {printable(release)}, expected one such as 6.12.43"
            raise HostNotReady(msg)
        return release

    @contextmanager
    def _root(self) -> Iterator[Path]:
        """A folder with copies of the guest's files that describe it: /proc, /sys and its kernel's configuration."""
        if not self._files:
            self._survey()
        with TemporaryDirectory() as folder:
            root = Path(folder)
            files = dict(self._files)
            if config := self.assembly.config:
                files[f"boot/config-{self._release}"] = config.read_text(encoding="utf-8")
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            yield root

    def _survey(self) -> Message:
        """What the guest reports about itself and its tracers. Raises: HostNotReady when it does not come up."""
        try:
            self._files = self._facts()
            return self._introduced()
        except GuestLost as lost:
            raise (KvmUnusable if self.accelerator == "kvm" else HostNotReady)(str(lost)) from lost

    def _facts(self) -> dict[str, str]:
        with _understood():
            return {name: str(text) for name, text in self._ask({"do": "facts"})["files"].items() if was_asked(name)}

    def _introduced(self) -> Message:
        """Have the guest know its tracers, which it must after each boot."""
        request = {"do": "tracers", "words": [wanted.word for wanted in self.wanted], "needs": list(get_args(Need))}
        return self._running().ask(request, self.answer_s)

    def _ask(self, request: Message) -> Message:
        """The guest's answer. Raises: GuestLost, with the guest ended; HostNotReady when it is no use to go on."""
        try:
            return self._running().ask(request, self.answer_s)
        except GuestLost as lost:
            self._end()
            self._lost += 1
            if self._lost >= LOSSES:
                raise HostNotReady(f"{self._lost} guests were lost one after the other. The last one: {lost}") from lost
            raise

    def _running(self) -> RunningGuest:
        if self._guest is None:
            more = self.recorder.words if self.recorder else ()
            self._guest = RunningGuest(self.assembly.image, self.assembly.emulator, self.accelerator, more)
            self._guest.wait_for_boot(self.boot_s)
            if self.metric == "time":
                workload, others = self._host_cpus
                self._guest.pin(workload, workload if others is None else others)
            if self._tracers:
                self._introduced()
        return self._guest

    def _end(self) -> None:
        if self._guest is not None:
            self._guest.end()
            self._guest = None


@contextmanager
def _understood() -> Iterator[None]:
    """Raise GuestLost for an answer of another form than was asked."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise GuestLost(f"the emulated machine gave no answer to what it was asked: {as_note(repr(error))}") from error


def was_asked(name: str) -> bool:
    """Whether a file is one of those that a guest is asked for. Whatever runs in it may answer in its place."""
    parts = name.split("/")
    asked = (pattern.split("/") for pattern in GUESTS["facts"]["files"])
    return ".." not in parts and any(
        len(parts) == len(pattern) and all(map(fnmatchcase, parts, pattern)) for pattern in asked
    )


TRIALS = Path(__file__).with_name("mechanisms.c")
"""The program that tries mechanisms. Of each it prints id, outcome, number of the error, and words, parted by tabs."""

ERRORS = dict(errno.errorcode) | {524: "ENOTSUPP"}
"""The kernel's own errors too (include/linux/errno.h)."""


def tried_mechanisms(words: str, architecture: str, cache: Path, tell: Callable[[str], None]) -> KernelMechanisms:
    """Which mechanisms of tracing a kernel has, each tried in an emulated machine. Raises: UsageError, HostNotReady."""
    with locked(cache):
        kernel = find_kernel(words, cache, ARCHITECTURES[architecture])
        assembly = assemble(ARCHITECTURES[architecture], kernel, (), (), cache, more=(TRIALS,))
    tell(f"booting {kernel.origin}")
    with EmulatedMachine(assembly, (), tell) as machine:
        release, lines = machine.mechanisms(assembly.programs[TRIALS].path)
    return KernelMechanisms(
        kernel_release=release,
        architecture=assembly.emulator.architecture.machine,  # type: ignore[arg-type]
        kernel=assembly.packages["kernel"],
        emulator=str(assembly.emulator.version()),
        probe_effect=__version__,
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        trials=dict(map(mechanism_trial, lines)),
    )


def mechanism_trial(line: str) -> tuple[str, MechanismTrial]:
    name, outcome, code, says = line.split("\t", 3)
    error = None if code == "0" or outcome == "ended" else ERRORS.get(int(code), f"E{code}")
    return name, MechanismTrial.model_validate({"outcome": outcome, "error": error, "says": says.strip() or None})
