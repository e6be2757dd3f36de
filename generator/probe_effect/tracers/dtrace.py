"""DTrace (FreeBSD, illumos, macOS; Linux since DTrace 2.0), with the same scripts everywhere but for fbt's on Linux.

Probes of the fbt provider name kernel functions, so such a script may have a form for Linux beside it, which is taken
there.

How it is known that the probes are live: a clause of ours prints a line from BEGIN, which no other probe precedes
("dtrace Provider" in the Dynamic Tracing Guide). The command reads what was printed only once tracing has begun.
Where the kernel does the work, every probe is enabled before BEGIN fires, and all CPUs record before that call returns
(`dtrace_state_go` in dtrace.c of FreeBSD and illumos). On Linux, `dtrace_go` in libdtrace's dt_work.c attaches every
BPF program before it fires BEGIN, and the end of BEGIN lets them record.

Where the kernel does the work, the command first sleeps for up to its `switchrate`, a second by default; the time to
attach has that in it, as a user's has.

A script counts its events in one aggregation: DTrace prints aggregations without their names, so a second one could
not be distinguished, and would be added.
"""

import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path

from probe_effect.host import kernel, run_program
from probe_effect.model import Need
from probe_effect.store.places import linux_form
from probe_effect.tracers.dynamic_events import groups, remove_group
from probe_effect.tracers.protocol import Counting, TracerFailed, wait_for_workload
from probe_effect.tracers.tool import Tool, ToolSession, not_root, text_of, version_line

INSTALL = "Debian sid has it as `dtrace`; FreeBSD, illumos and macOS have it in the base system"
TRACEFS = "sys/kernel/debug/tracing"  # the one place where libdtrace 2.0.7 looks for tracefs

PROVIDERS: dict[Need, str] = {"kprobe": "fbt", "tracepoint": "syscall"}
"""Facility to the provider that serves it, where the kernel has DTrace of its own."""

ON_LINUX: dict[Need, Need] = {"kprobe": "fentry"}
"""Facility to the one that DTrace uses in its place on Linux.

fbt has a probe for each function in `available_filter_functions`. It fires through BPF trampolines, and through kprobes
only where the kernel has none. Source: `populate` in dt_prov_fbt.c of libdtrace; 2.0.7 was seen to do so on Linux 5.10
and 6.12.
"""

LIVE = "probe-effect: every probe is live"  # the line that we have DTrace print from BEGIN
PROOF = f'dtrace:::BEGIN {{ printf("{LIVE}\\n"); }}'

VALUE = re.compile(r"^\s.*?(?<=\s)(\d+)\s*$")
"""An aggregation's row: keys and a count, or a histogram's bucket and its count. Frames of a stack end otherwise."""


@dataclass(frozen=True, slots=True)
class Dtrace(Tool):
    """The tracer; `system` is what `uname` calls the operating system."""

    program: str = "dtrace"
    id: str = "dtrace"
    tool: str = "dtrace"
    system: str = field(default_factory=platform.system)

    def available(self) -> str | None:
        path = shutil.which(self.program)
        if path is None:
            return f"{self.program} is not installed; {INSTALL}"
        if self.version() is None:
            return f"{path} is another program of that name (systemtap-sdt-dev has one), not DTrace; {INSTALL}"
        if reason := not_root("DTrace"):
            return reason
        if self.system == "Linux" and not (self.root / TRACEFS / "events").is_dir():
            return f"DTrace looks for tracefs in /{TRACEFS}; as root: mount -t debugfs nodev /sys/kernel/debug"
        return None

    def version(self) -> str | None:
        """What `dtrace -V` prints; None for the program of the same name that SystemTap brings."""
        version = version_line(self.program, "-V")
        # `dtrace: D 2.0.7` on Linux, `dtrace: Sun D 1.13` elsewhere.
        return version if version and re.search(r"\bD \d+\.\d+", version) else None

    def missing(self, need: Need) -> str | None:
        if self.system == "Linux":
            return kernel.missing(ON_LINUX.get(need, need), self.root)
        if need.startswith("uprobe"):  # the pid provider makes its probes when asked; nothing lists them before
            return None
        if need not in PROVIDERS:
            return f"DTrace on {self.system} has no {kernel.FACILITIES[need]['name']}"
        command = [self.program, "-l", "-P", PROVIDERS[need]]
        try:
            run = run_program(command, 60)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"`{' '.join(command)}` does not answer: {error}"
        words = " ".join(run.stderr.split()) or f"exit status {run.returncode}"
        return f"`{' '.join(command)}`: {words}" if run.returncode != 0 else None

    def session(self, script: Path, counting: Counting, program: Path) -> "DtraceSession":
        """One run of DTrace with `script`, or with its form for Linux there.

        Raises: TracerFailed when the script cannot be read.
        """
        own = linux_form(script) if self.system == "Linux" else None
        return DtraceSession(self, own or script, counting, program)


class DtraceSession(ToolSession):
    """One DTrace at work.

    It is stopped with SIGTERM, on which it prints its aggregations as on SIGINT; a shell that starts us in the
    background has it ignore SIGINT. With -p it ends with the workload by itself.
    """

    name = "dtrace"
    complains_in = ("err",)

    def __init__(self, dtrace: Dtrace, script: Path, counting: Counting, program: Path) -> None:
        try:
            text = script.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise TracerFailed(f"{script.name}: expected a D script that can be read: {error.strerror}") from error
        super().__init__(dtrace.program, script, counting, program, dtrace.root)
        self._has_target = re.search(r"\$target\b", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)) is not None
        self._is_on_linux = dtrace.system == "Linux"

    def command(self, pid: int) -> Sequence[str]:
        """The command. `-p` stops and holds the workload, so only scripts that name it by `$target` have that.

        `-q` has DTrace print what scripts print, and nothing of its own.
        """
        target = ("-p", str(pid)) if self._has_target else ()
        return (self.tool, "-q", "-n", PROOF, *target, "-s", str(self.script.absolute()))

    def attach(self, pid: int) -> None:
        """Start DTrace; where it holds the workload, that has come to its wait. Raises: TracerFailed."""
        if self._has_target and self._is_on_linux:
            wait_for_workload(pid)
        super().attach(pid)

    def is_live(self) -> bool:
        return LIVE in text_of(self.work.out)

    def count(self) -> tuple[int | None, int | None]:
        lost = count_drops(text_of(self.work.err))
        with self.work.out.open(encoding="utf-8", errors="replace") as out:
            return (count_lines if self.counting == "lines" else count_aggregations)(out), lost

    def end(self) -> None:
        """A killed DTrace leaves its own BEGIN and END in tracefs: uprobes of the group `dt_PID_dtrace`."""
        super().end()
        if self.child is not None and self._is_on_linux:
            for group in groups(self.root):
                if group.startswith(f"dt_{self.child.pid}_"):
                    remove_group(group, self.root)


def count_aggregations(lines: Iterable[str]) -> int:
    """Events in the printed aggregation, whatever it gathers: a count, counts by key, or histograms."""
    # The row above the head of a histogram holds its keys, of which the last may be a number.
    rows = (row for row, following in pairwise(chain(lines, [""])) if "- Distribution -" not in following)
    return sum(int(match[1]) for row in rows if (match := VALUE.match(row)))


def count_lines(lines: Iterable[str]) -> int:
    return sum(1 for line in lines if line.strip() not in {"", LIVE})


def count_drops(errors: str) -> int:
    """Events that DTrace says it dropped: of its buffers, its aggregations, its variables.

    An action that needs a variable which is dropped ends there, so that each of those is an event too.
    Source: libdtrace's dt_handle.c, where both the drops on a CPU and those of the whole are put in words.
    """
    return sum(map(int, re.findall(r"^dtrace: (\d+) (?:[a-z]+ )*drops?\b", errors, re.MULTILINE)))
