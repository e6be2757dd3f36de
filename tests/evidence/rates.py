"""How near the rates that `advise` counts are to the truth, and to what a user finds with `perf stat`.

Usage, as root: PYTHONPATH=tests python -m evidence.rates [SECONDS [RUNS]]. Needs a C compiler, and perf for its column.

A program makes events at a known pace and counts them itself (`rates.c`). Each is counted as `advise` does by default
(a command: 60 s, 1 %), and the truth is the program's own count of that very run, over the time that counting did not
take. Printed for each: the pace without counting, the median deviation from the truth, how many intervals contain it,
the median half-width of these, what counting took of its budget, and how far `perf stat -e PROBE` is from the pace
without counting.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.advising.script_answer import COMMAND_S
from probe_effect.host.kernel import mount_for_our_time
from probe_effect.host.symbols import matching_functions
from probe_effect.live.count import Countable, Target, count
from probe_effect.live.kernel_calls import tracefs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.live.count import CountResult

SOURCE = Path(__file__).with_suffix(".c")
BUDGET_RATIO = 0.01
PATTERNS = ("steady", "bursty", "flickering", "phased", "early", "late", "sleeping", "forking")
PACES_HZ = {"getppid": (10, 1_000, 100_000, 1_000_000, 4_000_000), "push": (10, 1_000, 100_000, 1_000_000, 8_000_000)}


@dataclass(frozen=True, slots=True)
class Finding:
    """One run: what the program counted of itself, and what was found of it."""

    true_hz: float
    found: CountResult

    @property
    def error_ratio(self) -> float:
        """How far the found rate is from the truth."""
        return self.found.rates[0].hz / self.true_hz - 1

    @property
    def is_inside(self) -> bool:
        """Whether the interval contains the truth, as far as it goes."""
        low_hz, high_hz = self.found.rates[0].low_hz, self.found.rates[0].high_hz
        return low_hz is not None and low_hz <= self.true_hz and (high_hz is None or self.true_hz <= high_hz)

    @property
    def half_width_ratio(self) -> float:
        """Half the interval's width, as a ratio of the truth."""
        rate = self.found.rates[0]
        return ((rate.high_hz or rate.hz) - (rate.low_hz or 0.0)) / 2 / self.true_hz


def probe(program: Path, call: str) -> Countable:
    """What fires at each event."""
    if call == "getppid":
        return Countable(probe=call, kind="tracepoint", name="syscalls:sys_enter_getppid")
    place = matching_functions(program, call)[call]
    return Countable(probe=call, kind="uprobe", path=program, offsets=(place.offset,), mechanism="emulated")


def command(program: Path, call: str, hz: float, pattern: str, seconds: float) -> tuple[str, ...]:
    """What is run; it writes what it did beside itself."""
    return (str(program), call, str(hz), pattern, str(seconds), str(program.with_suffix(".told")))


def told(program: Path) -> tuple[int, float]:
    """(events, seconds) of the last run, by itself."""
    events, seconds = program.with_suffix(".told").read_text().split()
    return int(events), float(seconds)


def counted(program: Path, call: str, words: tuple[str, ...]) -> Finding:
    """One run, counted from its start to its end."""
    found = count(
        [probe(program, call)],
        Target(command=words),
        seconds=COMMAND_S,
        budget_ratio=BUDGET_RATIO,
    )
    return Finding(told(program)[0] / found.alone_s, found)


def by_hand(program: Path, words: tuple[str, ...], event: str) -> float | None:
    """The rate by `perf stat` with the command, events/s; None without perf."""
    perf = shutil.which("perf")
    if perf is None:
        return None
    run = subprocess.run([perf, "stat", "-x,", "-e", event, *words], capture_output=True, text=True, check=True)
    line = next(line for line in run.stderr.splitlines() if event.rpartition(":")[2] in line)
    return int(line.split(",")[0]) / told(program)[1]


@contextlib.contextmanager
def perf_probe(program: Path) -> Iterator[str]:
    """The name of perf's event on the function of the program, which is defined as long as the block runs."""
    place = matching_functions(program, "push")["push"]
    name = f"pe_rates_{os.getpid()}/push"
    _define(f"p:{name} {program}:{place.offset:#x}")
    try:
        yield name.replace("/", ":")
    finally:
        _define(f"-:{name}")


def _define(line: str) -> None:
    """Add a line to tracefs's list of uprobes, in which Python's own files cannot seek."""
    fd = os.open(tracefs() / "uprobe_events", os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, line.encode())
    finally:
        os.close(fd)


def row(program: Path, case: tuple[str, float, str], seconds: float, runs: int, event: str) -> str:
    """A line of the table."""
    call, hz, pattern = case
    words = command(program, call, hz, pattern, seconds)
    subprocess.run(words, check=True)
    alone_hz = told(program)[0] / told(program)[1]
    found = [counted(program, call, words) for _ in range(runs)]
    hand_hz = by_hand(program, words, event)
    spent = median(one.found.counting_cpu_s / one.found.elapsed_s / BUDGET_RATIO for one in found)
    cells = (
        f"{call}, {pattern}",
        units.rate(alone_hz),
        f"{median(one.error_ratio for one in found):+.1%}",
        f"{max(abs(one.error_ratio) for one in found):.1%}",
        f"{sum(one.is_inside for one in found)} of {runs}",
        f"{median(one.half_width_ratio for one in found):.0%}",
        f"{sum(one.found.rates[0].at_least for one in found)}",
        f"{spent:.2f}",
        "-" if hand_hz is None else f"{hand_hz / alone_hz - 1:+.0%}",
    )
    return f"| {' | '.join(cells)} |"


def main(seconds: float = 2.0, runs: int = 5) -> None:
    """Print the table."""
    mount_for_our_time()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "rates"
        subprocess.run(["cc", "-O2", "-o", program, SOURCE], check=True)  # noqa: S607
        with perf_probe(program) as push:
            print(
                "| events | pace alone | error, median | largest | inside | half-width | at least | budget | by hand |"
            )
            print("|:--|--:|--:|--:|--:|--:|--:|--:|--:|", flush=True)
            for case in cases():
                event = push if case[0] == "push" else "syscalls:sys_enter_getppid"
                print(row(program, case, seconds, runs, event), flush=True)


def cases() -> Iterator[tuple[str, float, str]]:
    """Call, pace and pattern of each run."""
    for call, paces_hz in PACES_HZ.items():
        yield from ((call, hz, "steady") for hz in paces_hz)
        yield from ((call, 100_000, pattern) for pattern in PATTERNS[1:])


if __name__ == "__main__":
    main(*(convert(word) for convert, word in zip((float, int), sys.argv[1:], strict=False)))
