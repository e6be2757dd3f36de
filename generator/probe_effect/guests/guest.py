"""The program inside: it makes one run at a time for the host, and says what kernel and tracers are there.

Its messages with the host are one JSON object per line, a request and its answer at a time.

Runs on the emulated machine's own Python, with that part of the package which needs no compiled library. Its line to
the host is a serial port, and its times are those of the emulated clock.

The instructions of a start or a stop are those that its CPUs execute, without waiting. The clock counts instructions
while a CPU executes and goes on while all of them are idle, so it cannot say. The kernel can: it adds up how long tasks
ran on each CPU, which there is in instructions (`rq_cpu_time` of /proc/schedstat, by `sched_info_depart` in
kernel/sched/stats.h). Interrupts that find a CPU idle belong to no task, and are excluded.
"""

import base64
import json
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple

from probe_effect.guests.debian import GUESTS
from probe_effect.host import ROOT, read_text, stay_on, usable_cpus
from probe_effect.host.kernel import mechanism
from probe_effect.host.load import busy_ratio, cpu_times
from probe_effect.host.processes import count_runs, program_runs
from probe_effect.host.workloads import WorkloadTask, clock_read_ns
from probe_effect.measure.one_run import Hooks, Limits, PlannedRun, TracerTask, probed_functions, run_once
from probe_effect.model import Key, ProbeEffectError, Sample
from probe_effect.tracers.dormant import Audit
from probe_effect.tracers.libbpf import Libbpf
from probe_effect.tracers.protocol import Tracer, state_of
from probe_effect.tracers.tool import ToolSession, known_tracers, with_paths

Message = dict[str, Any]
PLACE = "/probe-effect"  # our folder in the guest

LIBRARY, SUITES, WORKLOADS, PREBUILT, CONFIG = (
    f"{PLACE}/{name}" for name in ("python", "suites", "workloads", "prebuilt", "boot")
)


def encode(message: Message) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Message | None:
    """The object of a line; None for anything else, because a kernel may print anything to a serial line."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def in_guest(script: Path) -> str:
    return f"{SUITES}/{script.parent.name}/{script.name}"


def load_message(load: WorkloadTask) -> Message:
    return asdict(load) | {"program": f"{WORKLOADS}/{load.program.name}"}


def load_of(message: Message) -> WorkloadTask:
    return WorkloadTask(**message | {"program": Path(message["program"])})


def run_request(
    planned: PlannedRun, load: WorkloadTask, watch: TracerTask | None, limits: Limits, *, looking: bool = False
) -> Message:
    """A run to make, and whether to look afterwards how the kernel had made its kprobes: that fires probes itself."""
    return {
        "do": "run",
        "looking": looking,
        "planned": asdict(planned),
        "load": load_message(load),
        "watch": watch and asdict(watch) | {"tracer": watch.tracer.id, "script": in_guest(watch.script)},
        "limits": asdict(limits),
    }


def planned_of(message: Message) -> PlannedRun:
    return PlannedRun(**message | {"subject": Key(*message["subject"])})


RUN_TIME = 7  # the place of `rq_cpu_time` among the words of a CPU's line; version 15 of the format and later
SWITCHED_AFTER_S = 0.002  # a task's run is added when it leaves its CPU, so we leave ours before we read


class Reading(NamedTuple):
    """Instructions since the machine started: those of all tasks, and those of this program."""

    everybody: int
    ourselves: int


class Taken(NamedTuple):
    """Instructions between two moments: those of all others, and ours until we began to wait for them."""

    others: int
    ourselves: int


class Meter:
    """Begun before something that is asked for, and ended when it is done; `settle` returns when nobody works on it."""

    def __init__(self, root: Path, settle: Callable[[], None]) -> None:
        self._root, self._settle = root, settle
        self._first: Reading | None = None

    def begin(self) -> None:
        self._settle()
        self._first = self._switched()

    def end(self) -> Taken | None:
        """The instructions until now, with work left in the background; None if not begun, or the kernel does not say.

        Ours while that work ends are excluded.
        """
        if self._first is None:
            return None
        first, done = self._first, time.process_time_ns()
        self._settle()
        last, self._first = self._switched(), None
        if last is None:
            return None
        return Taken(
            others=last.everybody - first.everybody - (last.ourselves - first.ourselves),
            ourselves=done - first.ourselves,
        )

    def _switched(self) -> Reading | None:
        """The reading now; None if the kernel does not say (it is built without CONFIG_SCHEDSTATS)."""
        time.sleep(SWITCHED_AFTER_S)
        lines = [line.split() for line in (read_text(self._root, "proc/schedstat") or "").splitlines()]
        cpus = [int(words[RUN_TIME]) for words in lines if words and words[0].startswith("cpu")]
        return Reading(sum(cpus), time.process_time_ns()) if cpus else None


SETTLED_AFTER_S = 0.1
SETTLED_RATIO = 0.05
"""Both CPUs together are busy for less than that share of that time: our own look takes a part of it."""

LOOK_EVERY_S = 0.1
"""Whether a tool's probes are live: a look takes instructions of the CPU on which the tool is, and where looks are many
the kernel takes some of the tool's for ours."""

LONGEST_SETTLING_S = 3.0
"""A tracer that is never idle is let be: what it does all the time is part of its cost."""


class GuestRequests:
    """What the program inside can be asked to do: one method for each word of a request."""

    def __init__(self, root: Path = ROOT, all_tracers: Callable[[], dict[str, Tracer]] = known_tracers) -> None:
        self._root, self._known = root, all_tracers
        self._tracers: dict[str, Tracer] = {}

    def facts(self, request: Message) -> Message:
        """Path to text of the files that say what the machine is."""
        paths = (path for pattern in GUESTS["facts"]["files"] for path in sorted(self._root.glob(pattern)))
        return {
            "files": {
                path.relative_to(self._root).as_posix(): path.read_text(encoding="utf-8", errors="replace")
                for path in paths
            }
        }

    def tracers(self, request: Message) -> Message:
        """What each tracer named in `words` reports about itself and `needs`; these can run from now on."""
        tracers = self._known() | {"libbpf": Libbpf(prebuilt=Path(PREBUILT))}
        tracers |= {name: replace(tracer, inside=True) for name, tracer in tracers.items() if isinstance(tracer, Audit)}
        every, names = with_paths(tracers, request["words"])
        self._tracers = {name: every[name] for name in names}
        states = [asdict(state_of(tracer, request["needs"])) for tracer in self._tracers.values()]
        return {"tracers": [state | {"tool": every[state["tracer"]].tool} for state in states]}

    def functions(self, request: Message) -> Message:
        return {"functions": probed_functions(request["names"], load_of(request["load"]))}

    def clock(self, request: Message) -> Message:
        return {"read_ns": clock_read_ns(Path(request["program"]), request["cpu"])}

    def run(self, request: Message) -> Message:
        """The row of one run; where that is asked, also how the kernel had made its kprobes and ran its programs."""
        looking, looked = request["looking"], dict[str, object](mechanism=None, program_runs=None)
        watch, meter, taken = self._watch(request["watch"]), Meter(self._root, self._settle), dict[str, Taken | None]()

        def prepare() -> None:
            taken["start"] = meter.end()
            if taken["start"] is None:
                self._settle()
            if looking:
                count_runs(self._root, on=True)

        def look() -> None:
            looked.update(self._looked(request))
            begin()

        def begin() -> None:
            if watch is not None and watch.is_start:
                meter.begin()

        def stopped() -> None:
            taken["stop"] = meter.end()

        try:
            row = run_once(
                planned_of(request["planned"]),
                load_of(request["load"]),
                watch,
                Limits(**request["limits"]),
                Hooks(before_attach=begin, before_go=prepare, after_run=look, after_stop=stopped),
            )
        finally:
            if looking:
                count_runs(self._root, on=False)
        return {"row": asdict(_with_starts(row, taken)), **looked}

    def _looked(self, request: Message) -> Iterator[tuple[str, object]]:
        """What is asked of the kernel while the tracer's programs are still loaded, by its name in the answer."""
        if request["looking"]:
            count_runs(self._root, on=False)  # to look fires probes itself
            yield "program_runs", program_runs(self._root)
            yield "mechanism", mechanism(self._root)
        if request.get("symbols"):
            yield "symbols", self._symbols(lambda line: "[" in line)

    def symbols(self, request: Message) -> Message:
        return {"symbols": self._symbols(lambda line: "[" not in line)}

    def mechanisms(self, request: Message) -> Message:
        """What the program printed that tries each mechanism of tracing; it ends those that hang."""
        run = subprocess.run([request["program"]], capture_output=True, text=True, errors="replace", check=False)
        return {"lines": run.stdout.splitlines()}

    def _symbols(self, is_wanted: Callable[[str], bool]) -> str:
        """Lines of /proc/kallsyms about code, if there are any, packed, because the line to the host is slow."""
        file = self._root / "proc/kallsyms"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        code = "\n".join(line for line in lines if line.split()[1] in "tTwW" and is_wanted(line))
        return base64.b85encode(zlib.compress(code.encode())).decode()

    def _settle(self) -> None:
        """Return when the CPUs have been idle for a while: what attaching, or detaching before, has left to do is done.

        The clock would count it, whichever CPU does it within the loop: a tracer that frees its compiler's memory, maps
        of the tracer before that the kernel frees in the background.
        """
        deadline_s = time.monotonic() + LONGEST_SETTLING_S
        before = cpu_times(self._root, None)
        while time.monotonic() < deadline_s:
            time.sleep(SETTLED_AFTER_S)
            now = cpu_times(self._root, None)
            busy = busy_ratio(before, now)
            if busy is None or busy < SETTLED_RATIO:
                return
            before = now

    def _watch(self, message: Message | None) -> TracerTask | None:
        if message is None:
            return None
        tracer = self._tracers[message["tracer"]]
        return TracerTask(**message | {"tracer": tracer, "script": Path(message["script"])})


def _with_starts(row: Sample, taken: Mapping[str, Taken | None]) -> Sample:
    """The row with what its start and stop took, where it ended well; of a tracer without a process we are the tool."""
    if row.status != "ok":
        return row
    is_ours = row.tracer_cpu_ns is None
    start, stop = (
        None if (part := taken.get(name)) is None else part.others + (part.ourselves if is_ours else 0)
        for name in ("start", "stop")
    )
    return replace(row, attach_instructions=start, detach_instructions=stop)


def serve(line: FileIO, guest: GuestRequests) -> None:
    requests = (guest.facts, guest.tracers, guest.functions, guest.clock, guest.run, guest.symbols, guest.mechanisms)
    handlers: dict[str, Callable[[Message], Message]] = {handler.__name__: handler for handler in requests}
    for text in line:
        request = decode(text)
        if request is None:
            continue
        try:
            answer = handlers[request["do"]](request)
        except ProbeEffectError as error:
            answer = {"error": str(error)}
        line.write(encode(answer | {"number": request["number"]}))


def main(arguments: Sequence[str]) -> None:
    """Serve on the serial port that is named; the workload moves itself to a CPU of its own."""
    stay_on({min(usable_cpus())})
    ToolSession.look_every_s = LOOK_EVERY_S
    with open(arguments[0], "r+b", buffering=0) as line:  # noqa: PTH123 (a device, opened once for both ways)
        line.write(encode({"number": 0}))  # ready
        serve(line, GuestRequests())


if __name__ == "__main__":
    main(sys.argv[1:])
