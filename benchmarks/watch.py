"""What `probe-effect watch`, bpftool and bpftop say of the same BPF programs, and what the probes really take.

Usage, as root: python -m benchmarks.watch [BPFTOP...], the words being those that start bpftop where it is not on the
PATH (Debian has it from trixie on). Needs bpftrace and a C compiler; bpftool and bpftop where they are.

A program does a fixed number of operations, each of which makes one system call and calls two functions, and bpftrace
counts one of the three at a time. What that takes is the CPU time of the traced run less that of an untraced one, by
event; the tools look at the middle of the traced run. Medians over `ROUNDS`.
"""

from __future__ import annotations

import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path
from typing import TYPE_CHECKING

from probe_effect.advising.here import this_machine
from probe_effect.advising.watched import probe_costs
from probe_effect.live.loaded import RunStatistics
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from probe_effect.advising.watched import ProbeCosts
    from probe_effect.model import Estimate

PROJECT = Path(__file__).resolve().parent.parent
RUN_S = 4.0
"""CPU time of an untraced run."""
TRIAL_OPERATIONS = 100_000
ROUNDS = 5
LOOK_S = 1.5
ROWS, COLUMNS = 40, 200

SOURCE = """
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
volatile long x;
__attribute__((noinline)) void stepped(void) { x++; }          /* begins with a load: carried out of line */
void pushed(void);
__asm__(".globl pushed\\n.type pushed,@function\\npushed: push %rbp\\npop %rbp\\nret\\n.size pushed,.-pushed");
int main(int count, char **words)
{
    char byte;
    int zero = open("/dev/zero", O_RDONLY);
    for (long i = atol(words[1]); i > 0; i--) {
        for (volatile int spin = 0; spin < 2000; spin++);
        if (read(zero, &byte, 1) != 1) return 1;
        stepped();
        pushed();
    }
    return count < 2;
}
"""

PROBES = {
    "system call's entry": ("tracepoint:syscalls:sys_enter_read /pid == $PID/", "sys_enter_read"),
    "function, emulated": ("uprobe:$PROGRAM:pushed", "pushed"),
    "function, stepped": ("uprobe:$PROGRAM:stepped", "stepped"),
}
"""What is probed to bpftrace's words for it, and to the name that its program gets."""


@dataclass
class Seen:
    """What each tool said of one run, in ns of an event; None where it said nothing."""

    really_ns: float
    bpftool_ns: float | None
    bpftop_ns: float | None
    watch_ns: Estimate | None
    events_hz: float


def cpu_s(process: subprocess.Popen[bytes]) -> float:
    """Wait for a process; its CPU time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bpftool(name: str) -> tuple[int, int] | None:
    """(runs, ns) of the newest program of that name, by bpftool."""
    tool = shutil.which("bpftool")
    if tool is None:
        return None
    found = json.loads(subprocess.run([tool, "-j", "prog", "show"], capture_output=True, check=True).stdout)
    mine = [one for one in found if one.get("name") == name]
    return (mine[-1].get("run_cnt", 0), mine[-1].get("run_time_ns", 0)) if mine else None


class Bpftop:
    """bpftop on a terminal of its own, whose screen is read as a person would."""

    def __init__(self, words: list[str]) -> None:
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.execvpe(words[0], words, {**os.environ, "TERM": "xterm-256color"})  # noqa: S606
        ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("4H", ROWS, COLUMNS, 0, 0))
        self.text = b""
        self.is_gone = False

    def read(self, seconds: float) -> None:
        """Take what it draws for a while."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self.is_gone or not select.select([self.terminal], [], [], left)[0]:
                time.sleep(max(0.0, until - time.monotonic()))
                return
            try:
                self.text += os.read(self.terminal, 65536)
            except OSError:  # EIO: it has ended, and its last words are in `text`
                self.is_gone = True

    def average_ns(self, name: str) -> float | None:
        """The column of the average run time in the last period, in the row of that program."""
        for row in screen(self.text.decode(errors="replace")):
            words = re.split(r"\s{2,}|\s*│\s*", row.strip(" │"))
            if name in words and len(words) > words.index(name) + 1:
                found = re.sub(r"[^\d.]", "", words[words.index(name) + 1])
                return float(found) if found else None
        return None

    def end(self) -> None:
        """End it as a person would, and make sure."""
        if not self.is_gone:
            os.write(self.terminal, b"q")
            self.read(0.5)
        os.close(self.terminal)
        os.waitpid(self.child, 0)


def screen(text: str) -> list[str]:
    """The lines that a terminal shows after such output: cursor addresses are followed, colours left out."""
    cells = [[" "] * COLUMNS for _ in range(ROWS)]
    row = column = 0
    for sequence, letter in re.findall(r"\x1b(\[[0-9;?]*[A-Za-z]|[^\[])|([^\x1b])", text):
        if sequence.endswith("H") and sequence.startswith("["):
            numbers = [int(one) if one else 1 for one in (sequence[1:-1] or ";").split(";")]
            row, column = min(numbers[0], ROWS) - 1, min(numbers[-1], COLUMNS) - 1
        elif letter and letter.isprintable():
            cells[row][column] = letter
            column = min(column + 1, COLUMNS - 1)
    return ["".join(line) for line in cells]


def looked(costs: ProbeCosts, name: str, top: list[str]) -> Seen:
    """What the three tools see of the program `name` at the same time; nothing yet of what it really takes."""
    bpftop = Bpftop(top) if top else None
    with RunStatistics() as watch:
        if bpftop:
            bpftop.read(1.0)
        first, before = watch.look(), bpftool(name)
        if bpftop:
            bpftop.read(LOOK_S)
        else:
            time.sleep(LOOK_S)
        last, after = watch.look(), bpftool(name)
        mine = [one for one in watch.between(first, last) if one.loaded.name == name and one.events_hz]
    top_ns = bpftop.average_ns(name) if bpftop else None
    if bpftop:
        bpftop.end()
    tool_ns = (after[1] - before[1]) / (after[0] - before[0]) if before and after and after[0] > before[0] else None
    if not mine or mine[0].events_hz is None:
        return Seen(0.0, tool_ns, top_ns, None, 0.0)
    cpu, hz = costs.of(mine[0]).cpu_s_per_s, mine[0].events_hz
    per_event = cpu.times(1e9 / hz) if cpu else None
    return Seen(0.0, tool_ns, top_ns, per_event, hz)


def round_of(program: Path, operations: int, costs: ProbeCosts, what: str, top: list[str]) -> Seen:
    """One untraced run, one traced, and one traced that the tools look at, which costs by itself."""
    words = [str(program), str(operations)]
    alone_s = cpu_s(subprocess.Popen(words))
    traced_s, _ = traced(words, costs, what, None)
    _, seen = traced(words, costs, what, top)
    seen.really_ns = (traced_s - alone_s) / operations * 1e9
    return seen


def traced(words: list[str], costs: ProbeCosts, what: str, top: list[str] | None) -> tuple[float, Seen]:
    """CPU time of a traced run, and what the tools saw of it; nothing where `top` is None."""
    attach, name = PROBES[what]
    with subprocess.Popen(["/bin/sh", "-c", 'kill -STOP $$; exec "$@"', "sh", *words]) as run:
        attach = attach.replace("$PROGRAM", words[0]).replace("$PID", str(run.pid))
        command = ["bpftrace", "-e", f"{attach} {{ @n = count(); }}"]
        tracer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            assert tracer.stdout is not None
            while b"Attaching" not in tracer.stdout.readline():
                pass
            while bpftool(name) is None:
                time.sleep(0.05)
            time.sleep(0.5)  # its probes are attached after the line
            run.send_signal(signal.SIGCONT)
            time.sleep(0.3)
            seen = Seen(0.0, None, None, None, 0.0) if top is None else looked(costs, name, top)
            used_s = cpu_s(run)
        finally:
            while tracer.poll() is None:  # bpftrace 0.17 may sleep through the first
                tracer.send_signal(signal.SIGINT)
                time.sleep(2.0)
            tracer.communicate()
    return used_s, seen


def median(values: list[float | None]) -> str:
    """In ns, or a dash."""
    known = [value for value in values if value is not None]
    return f"{statistics.median(known):,.0f}" if known else "—"


def main() -> None:
    """Print the table."""
    top = sys.argv[1:] or ([found] if (found := shutil.which("bpftop")) else [])
    costs = probe_costs(DataFolder(PROJECT / "data"), this_machine(), None)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "watched"
        (source := program.with_suffix(".c")).write_text(SOURCE)
        subprocess.run(["cc", "-O1", "-o", program, source], check=True)  # noqa: S607
        trial_s = cpu_s(subprocess.Popen([program, str(TRIAL_OPERATIONS)]))
        operations = round(TRIAL_OPERATIONS * RUN_S / trial_s)
        print("| Probe | Events/s | bpftool, ns an event | bpftop, ns | watch, ns (interval) | really, ns |")
        print("|:--|--:|--:|--:|--:|--:|")
        for what in PROBES:
            rounds = [round_of(program, operations, costs, what, top) for _ in range(ROUNDS)]
            own = [[one.watch_ns[end] if one.watch_ns else None for one in rounds] for end in range(3)]
            watch = f"{median(own[0])} ({median(own[1])} to {median(own[2])})"
            cells = [
                what,
                median([one.events_hz for one in rounds]),
                median([one.bpftool_ns for one in rounds]),
                median([one.bpftop_ns for one in rounds]),
                watch,
                median([one.really_ns for one in rounds]),
            ]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
