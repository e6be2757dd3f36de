"""The kernel's statistics of BPF programs, on while we look, and their own cost."""

import os
import struct
import time
from dataclasses import dataclass
from statistics import median

from probe_effect.live import bpf, bpf_objects, bpf_program

RUNS, TRIALS = 20_000, 9
PACKET_BYTES = 64
"""What the program is run on: at least a head of Ethernet, 14 bytes (net/bpf/test_run.c, bpf_test_init)."""


@dataclass(frozen=True, slots=True)
class OwnCost:
    """The cost of the statistics for each run of a program, in ns.

    `counted_ns`: what they find for a program that does nothing, and so too much for every other. `added_ns`: by how
    much they make a run longer; None where somebody else had switched them on already.
    """

    counted_ns: float
    added_ns: float | None


def own_cost(trials: int = TRIALS) -> OwnCost:
    """The statistics' cost, from some ten thousand runs of an empty program (BPF_PROG_TEST_RUN).

    The median of so many trials, each without and with statistics: a few ms each. Raises: OSError.
    """
    program = bpf.load(bpf.SOCKET_FILTER, bpf_program.empty(), "pe_empty")
    try:
        seen = [_trial(program) for _ in range(trials)]
    finally:
        os.close(program)
    counted_ns = median(counted for counted, _ in seen)
    added = [one for _, one in seen if one is not None]
    return OwnCost(counted_ns, median(added) if added else None)


def _trial(program: int) -> tuple[float, float | None]:
    """The ns of a run by the statistics, and the ns by which they make it longer."""
    before = bpf_objects.program(program).runs
    without_ns = _run_ns(program)
    first = bpf_objects.program(program)
    statistics = bpf.enable_statistics()
    try:
        with_ns = _run_ns(program)
    finally:
        os.close(statistics)
    last = bpf_objects.program(program)
    was_on = first.runs > before
    return (last.run_ns - first.run_ns) / (last.runs - first.runs), None if was_on else with_ns - without_ns


def _run_ns(program: int) -> float:
    packet = bytearray(PACKET_BYTES)
    fields = (program, 0, len(packet), 0, bpf.address(packet), 0, RUNS, 0)
    attributes = bytearray(struct.pack("=4I2Q2I", *fields) + bytes(32))
    began_ns = time.thread_time_ns()
    bpf.command(bpf.PROG_TEST_RUN, attributes)
    return (time.thread_time_ns() - began_ns) / RUNS
