"""bpftrace (Linux, eBPF).

How it is known that the probes are live, without waiting for a while and hoping: bpftrace 0.17 runs `BEGIN` before it
attaches the other probes, so a line printed there proves nothing. For its own tests it prints a line once all are
attached, when the environment has `__BPFTRACE_NOTIFY_PROBES_ATTACHED` (src/bpftrace.cpp, since 0.12; on standard error
in 0.17, on standard output in 0.23).

A script counts its events in the map without a name, `@`, whatever it gathers there: a count, counts by key, or
histograms. Maps with a name are the script's own business: 16-timing keeps its start times in one.
"""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from probe_effect.host import read_text, run_program
from probe_effect.host.kernel import missing, tracefs_missing
from probe_effect.host.processes import Child, Ended
from probe_effect.model import Need
from probe_effect.tracers.monitors import Monitor, MonitorSession
from probe_effect.tracers.protocol import OF_ITSELF, Counting
from probe_effect.tracers.tool import LOOK_EVERY_S, Tool, ToolSession, not_root

COUNTED = "@"
LIVE = "__BPFTRACE_NOTIFY_PROBES_ATTACHED"
"""The variable that has bpftrace say when all probes are attached, and the line that it prints then."""
LOST = re.compile(r"Lost (\d+) events?$")
FRAME = re.compile(rf"Attaching \d+ probes?\.\.\.$|Attached \d+ probes?$|{LIVE}$|\s*$")
"""Lines of bpftrace itself."""

ATTACHED = re.compile(r'^(?:Attach(?:ing|ed) |\{"type": "attached_probes", "data": \{"probes": )(\d+)\b')
"""How bpftrace says how many probes it attaches, its BEGIN and END among them: 0.17 before, 0.23 after it has."""

QUIET_S = 0.3  # bpftrace looks for events every 0.1 s at the latest

LONGEST_QUIET_S = 10.0
"""After it, the lines that still come are of other programs: a workload's last ones take less."""

ASKED: dict[Need, str] = {"kprobe-multi": "kprobe_multi", "fentry": "kfunc|fentry"}
"""Facility to its name in `bpftrace --info`, which tries each (src/bpffeature.cpp).

0.17 has no fentry on Linux 5.10, though that kernel has. Without multi-kprobes (before 0.16, or where the kernel
has none) a wildcard becomes a kprobe for each function, which is another probe.
"""

HEARD_AFTER_S = 0.53
"""Time by which bpftrace has closed its probes, if it heard the signal: it takes 0.2 s.

No multiple of the 0.1 s that bpftrace waits for events each time. Where nothing else takes time, as in an emulated
machine, each signal would come at the same moment of that wait, and if one is overlooked all are.
"""


class BpftraceSession(ToolSession):
    """One bpftrace at work."""

    name = "bpftrace"
    harmless = re.compile(rf"RLIMIT_MEMLOCK|^Attach(ing|ed) |^\s*$|^\{{|^{LIVE}$")
    """Without CAP_SYS_RESOURCE bpftrace cannot raise a limit that newer kernels do not use."""
    _held = 0
    """Files that it had open before it was asked to stop."""

    def command(self, pid: int) -> Sequence[str]:
        """The command watches every process, as a user's would, and is told the workload where the script asks."""
        # JSON would treble the bytes of a script that prints every event.
        form = "text" if self.counting == "lines" else "json"
        asks = re.search(r"\$1\b", self.script.read_text(encoding="utf-8", errors="replace"))
        return (self.tool, "-f", form, str(self.script.absolute()), *([str(pid)] if asks else []))

    def environment(self) -> dict[str, str]:
        # Its own limits are 512 probes in 0.17 and 1024 in 0.23; a suite that asks for more means it.
        return {LIVE: "1", "BPFTRACE_MAX_PROBES": "100000", "BPFTRACE_MAX_BPF_PROGS": "100000"}

    def is_live(self) -> bool:
        return any(LIVE in (read_text(self.work.path, name) or "") for name in ("err", "out"))

    def ask_to_stop(self) -> None:
        """Ask it to print its maps and exit.

        A script that prints is let finish first: bpftrace 0.23 drops the lines that it has not yet read when it is
        asked to stop, and counts none of them as lost (src/bpftrace.cpp, poll_output).

        Raises: TracerFailed when it has ended by itself, as bpftrace does since 0.24 where a script has nothing but
        `BEGIN` and `END` (https://github.com/bpftrace/bpftrace/pull/4358): its end falls into the run.
        """
        if self.child is not None:
            ended = self.child.wait(0)
            if ended is not None and ended.exit_status in self.good_exits:
                self.fail("failed", "ended before it was asked to stop; have a probe in its script that keeps it there")
            if self.counting == "lines":
                self._wait_for_quiet(self.child)
            self._held = _descriptors(self.child.pid)
        super().ask_to_stop()

    def _wait_for_quiet(self, child: Child) -> None:
        """Return when bpftrace has printed nothing for `QUIET_S`, or has ended.

        Where other programs fire the probe too it is never quiet, and then what it lags behind is theirs.
        """
        size, since_s = -1, time.monotonic()
        deadline_s = since_s + LONGEST_QUIET_S
        while (now_s := time.monotonic()) < deadline_s and now_s - since_s < QUIET_S:
            if child.wait(LOOK_EVERY_S) is not None:
                return
            if (new_size := self.work.out.stat().st_size) != size:
                size, since_s = new_size, time.monotonic()

    def wait_for_end(self, child: Child, timeout_s: float) -> Ended | None:
        """How it ended. It is asked again until it has heard; after that a signal would cut off its output.

        bpftrace 0.17 overlooks a signal that comes while it is not waiting for events: `poll_perf_events` in
        src/bpftrace.cpp leaves its loop only when epoll_wait is interrupted. It has heard when it closes its probes.
        """
        deadline_s = time.monotonic() + timeout_s
        while (ended := child.wait(min(HEARD_AFTER_S, timeout_s))) is None and time.monotonic() < deadline_s:
            if _descriptors(child.pid) >= self._held:
                child.send(self.stop_signal)
        return ended

    def probes(self) -> int | None:
        """A probe on many functions at once is one."""
        for path in (self.work.out, self.work.err):
            with path.open(encoding="utf-8", errors="replace") as lines:
                # It has said so in its first lines; those of a script that prints follow.
                if (number := count_attached(islice(lines, 50))) is not None:
                    return number
        return None

    def count(self) -> tuple[int | None, int | None]:
        with self.work.out.open(encoding="utf-8", errors="replace") as out:
            return (count_lines if self.counting == "lines" else count_json)(out)


@dataclass(frozen=True, slots=True)
class Bpftrace(Tool):
    """The tracer."""

    program: str = "bpftrace"
    id: str = "bpftrace"
    tool: str = "bpftrace"
    sessions = BpftraceSession

    def available(self) -> str | None:
        return self.absent(self.program) or not_root("bpftrace") or tracefs_missing(self.root)

    def missing(self, need: Need) -> str | None:
        version = re.search(r"(\d+)\.(\d+)", self.version() or "") if need == "raw-tracepoint" else None
        # Since its pull request 2542; versions before say `Invalid probe type made it to attachpoint parser`.
        if version and (int(version[1]), int(version[2])) < (0, 18):
            return f"bpftrace {version[0]} has no raw tracepoints, which came with 0.18; name a newer one by its path"
        return missing(need, self.root) or (self._denied(need) if need in ASKED else None)

    def session(self, script: Path, counting: Counting, program: Path) -> ToolSession:
        """One run of bpftrace with `script`, which ends by itself where bpftrace is what is measured."""
        if counting in OF_ITSELF:
            refreshing = Monitor(program=self.program, id=self.tool, tool=self.tool)
            return MonitorSession(refreshing, (self.program, str(script.absolute())), script, counting, program)
        return BpftraceSession(self.program, script, counting, program)

    def _denied(self, need: Need) -> str | None:
        answer = re.search(rf"\b(?:{ASKED[need]}): *(\w+)", _info(shutil.which(self.program) or self.program))
        if (answer and answer[1] == "yes") or (answer is None and need == "fentry"):  # of which 0.27 no longer tells
            return None
        words = answer[0] if answer else "nothing of it"
        return f"this bpftrace has no {need} here: `{self.program} --info` says {words}"


@cache
def _info(program: str) -> str:
    try:
        # It loads a program for each thing it tells: most of a second here, several in an emulated machine.
        run = run_program([program, "--info"], 60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout + run.stderr


def count_attached(lines: Iterable[str]) -> int | None:
    return next((int(match[1]) for line in lines if (match := ATTACHED.match(line))), None)


def _descriptors(pid: int) -> int:
    try:
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return 0


def count_json(lines: Iterable[str]) -> tuple[int, int]:
    """(events in the map `@`, events that bpftrace says it lost).

    Raises: ValueError when a line in braces is not JSON as bpftrace 0.17 writes it.
    """
    seen = lost = 0
    for line in lines:
        if not line.startswith("{"):
            continue
        message = json.loads(line, object_pairs_hook=_with_each)
        kind, data = message.get("type"), message.get("data")
        if kind == "lost_events":
            lost += int(data["events"])
        elif kind in ("map", "hist", "stats") and COUNTED in data:
            seen += _events(data[COUNTED])
    return seen, lost


def _with_each(pairs: list[tuple[str, Any]]) -> dict[Any, Any]:
    """An object with every value of a key that comes twice, as the stack of two threads does whose frames are alike."""
    values: dict[Any, Any] = {}
    for key, value in pairs:
        values[(key, len(values)) if key in values else key] = value
    return values


def _events(value: Any) -> int:  # noqa: ANN401 (JSON, of a shape that depends on the map)
    """Events that one map's value stands for: a count, statistics, histogram buckets, or any of these by key."""
    if isinstance(value, int):
        return value
    if isinstance(value, list):
        return sum(int(bucket["count"]) for bucket in value)
    if isinstance(value, dict):
        return int(value["count"]) if value.keys() >= {"count", "average"} else sum(map(_events, value.values()))
    raise ValueError(f"a map holds {type(value).__name__}, which is no count")


def count_lines(lines: Iterable[str]) -> tuple[int, int]:
    seen = lost = 0
    for line in lines:
        if match := LOST.match(line):
            lost += int(match[1])
        elif not FRAME.match(line):
            seen += 1
    return seen, lost
