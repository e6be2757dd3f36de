"""What two runs of one cost differ by: layout of memory, huge pages, the neighbour, the order, the time, the attach.

Usage, as root: PYTHONPATH=tests .venv/bin/python -m evidence.causes [--minutes N] [--write] (into the method).

A start is a new process, timed untraced and then under two attaches of bpftrace; nothing of usual priority interrupts
either. Each block has one start of every condition in random order. A cause's share is what the variance between
starts loses without it, or what it explains.
Frequency is not among the conditions: a guest cannot set it.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from evidence.method_tables import write as write_tables

SEED = 20261128
OPERATIONS = 20_000
ROUNDS = 7
"""How often a start is timed untraced, and under each attach; its median counts."""
ATTACHES = 2
RESAMPLED = 2000
LIMIT_S = 60.0
WORKLOAD_CPU, OTHER_CPU = "1", "0"

CONDITIONS = ("as usual", "fixed layout", "no huge pages", "busy neighbour")
EVENTS = ("A tracepoint on `read`", "A uprobe on a push")

Costs = NDArray[np.float64]
"""ns per event, by block, condition, attach and event."""


def _timed(workload: "subprocess.Popen[str]") -> Costs:
    """The median ns per operation of both loops."""
    assert workload.stdin is not None
    assert workload.stdout is not None
    rounds = []
    for _ in range(ROUNDS):
        workload.stdin.write("go\n")
        workload.stdin.flush()
        rounds.append([float(one) for one in workload.stdout.readline().split()])
    found: Costs = np.median(np.array(rounds), axis=0)
    return found


def _attached(program: Path, pid: int) -> "subprocess.Popen[str]":
    """A bpftrace whose two probes are attached."""
    script = (
        f"tracepoint:syscalls:sys_enter_read /pid == {pid}/ {{ @reads = count(); }} "
        f"uprobe:{program}:push /pid == {pid}/ {{ @calls = count(); }} "
        'BEGIN { printf("attached\\n"); }'
    )
    command = ["chrt", "-f", "1", "taskset", "-c", OTHER_CPU, "bpftrace", "-B", "line", "-e", script]
    tool = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert tool.stdout is not None
    for line in tool.stdout:
        if line.strip() == "attached":
            return tool
    raise SystemExit(f"bpftrace ended before it was attached, with status {tool.wait()}: run as root")


def start(program: Path, condition: str) -> Costs:
    """The costs of one start, by attach and event."""
    command = ["chrt", "-f", "1", "taskset", "-c", WORKLOAD_CPU]
    command += ["setarch", "-R"] if condition == "fixed layout" else []
    command += [str(program), str(OPERATIONS), *(["without"] if condition == "no huge pages" else [])]
    busy = ["taskset", "-c", OTHER_CPU, sys.executable, "-c", "while True: pass"]
    neighbour = subprocess.Popen(busy) if condition == "busy neighbour" else None
    workload = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        untraced = _timed(workload)
        costs = []
        for _ in range(ATTACHES):
            tool = _attached(program, workload.pid)
            try:
                time.sleep(0.05)  # the probes are live a moment after BEGIN
                costs.append(_timed(workload) - untraced)
            finally:
                tool.terminate()
                tool.wait(LIMIT_S)
        return np.array(costs)
    finally:
        workload.kill()
        workload.wait()
        if neighbour is not None:
            neighbour.kill()
            neighbour.wait()


def measured(program: Path, minutes: float) -> tuple[Costs, NDArray[np.intp]]:
    """Costs and places in the block, for as many whole blocks as begin in so many minutes."""
    random = np.random.default_rng(SEED)
    ends = time.monotonic() + 60 * minutes
    costs, places = [], []
    while time.monotonic() < ends:
        order = random.permutation(len(CONDITIONS))
        found = {int(one): start(program, CONDITIONS[one]) for one in order}
        costs.append([found[one] for one in range(len(CONDITIONS))])
        places.append(np.argsort(order))
    return np.array(costs), np.array(places)


def removed(usual: Costs, without: Costs) -> float:
    """The share of the variance that is gone without a cause; below 0 where there is more."""
    return 1 - float(np.var(without, ddof=1) / np.var(usual, ddof=1))


def explained(values: Costs, groups: NDArray[np.intp]) -> float:
    """The share of the variance between groups, less what chance puts there (omega squared)."""
    names = np.unique(groups)
    own = [values[groups == name] for name in names]
    within = sum(float(((one - one.mean()) ** 2).sum()) for one in own)
    whole = float(((values - values.mean()) ** 2).sum())
    error = within / (len(values) - len(names))
    return (whole - within - (len(names) - 1) * error) / (whole + error)


def shares(costs: Costs, places: NDArray[np.intp]) -> dict[str, float]:
    """Each cause to its share of the variance between starts, of one event's costs by block, condition and attach."""
    first = costs[:, :, 0]
    centred = first - np.median(first, axis=0)
    calm = range(CONDITIONS.index("busy neighbour"))
    usual = first[:, 0]
    quarters = np.repeat(np.arange(len(costs)) * 4 // len(costs), len(calm))
    attach = float(np.var(costs[:, 0, 0] - costs[:, 0, 1], ddof=1) / 2 / np.var(usual, ddof=1))
    shift = float(np.median(first[:, 3] - usual))
    mixed = shift**2 / 4  # variance where half of the runs have the neighbour
    return {
        "layout of memory, ASLR": removed(usual, first[:, 1]),
        "huge pages": removed(usual, first[:, 2]),
        "a busy neighbour in half of the runs": mixed / (mixed + float(np.var(usual, ddof=1))),
        "order in the block": explained(centred[:, calm].ravel(), places[:, calm].ravel()),
        "time: quarters of the experiment": explained(centred[:, calm].ravel(), quarters),
        "what two attaches to one process differ by": attach,
    }


def tables(costs: Costs, places: NDArray[np.intp]) -> Iterator[str]:
    """The tables, with intervals of 95 % from resampled blocks."""
    random = np.random.default_rng(SEED)
    yield f"{len(costs)} blocks; cost and standard deviation between starts as usual: " + "; ".join(
        f"{event} {np.median(costs[:, 0, 0, place]):.0f} ns, {100 * _deviation(costs[:, 0, 0, place]):.1f} %"
        for place, event in enumerate(EVENTS)
    )
    yield ""
    yield "| Cause | " + " | ".join(EVENTS) + " |"
    yield "|:--|--:|--:|"
    known = [_with_ends(costs[..., place], places, random) for place in range(len(EVENTS))]
    for cause in known[0]:
        yield f"| {cause} | {' | '.join(one[cause] for one in known)} |"
    yield "| frequency of the CPU | not tested | not tested |"


def _deviation(usual: Costs) -> float:
    return float(np.std(usual, ddof=1) / np.median(usual))


def _with_ends(costs: Costs, places: NDArray[np.intp], random: np.random.Generator) -> dict[str, str]:
    drawn = [np.sort(random.integers(len(costs), size=len(costs))) for _ in range(RESAMPLED)]
    again: Sequence[dict[str, float]] = [shares(costs[some], places[some]) for some in drawn]
    return {
        cause: f"{round(100 * share)} ({round(low)} to {round(high)})"
        for cause, share in shares(costs, places).items()
        for low, high in [100 * np.quantile([one[cause] for one in again], [0.025, 0.975])]
    }


@click.command()
@click.option("--minutes", default=10.0, show_default=True, help="How long it measures.")
@click.option("--write", is_flag=True, help="Put the table into the method.")
def main(*, minutes: float, write: bool) -> None:
    """Measure, and print which share of the variance between starts each cause has, in per cent."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "causes"
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["cc", "-O2", "-o", str(program), str(source)], check=True)  # noqa: S607 (from PATH)
        text = "\n".join(tables(*measured(program, minutes)))
    print(text)
    if write:
        write_tables("causes", text)


if __name__ == "__main__":
    main()
