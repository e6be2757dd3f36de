"""Where each tracer spends its time: in the thread that is traced, and in a process of its own.

Read for it: `builtin-trace.c` and `util/evsel.c` in Linux's `tools/perf`: perf trace buffers nothing (`no_buffering`).
Of strace the form with a filter in the kernel is taken, because without it other system calls are stopped too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.diagrams.diagram import Diagram, Group, Row, Stage, Words

if TYPE_CHECKING:
    from probe_effect.diagrams.diagram import Cost, Costs

TRACEPOINT, PRINTED = "04-tracepoint-entry", "22-system-call"


def diagram(costs: Costs) -> Diagram:
    """Each tracer with what the thread does at an event, what the tracer does, and what the thread pays."""
    rows = (
        _row("perf stat", "adds one to a counter", "reads it at the end", costs("perf-stat", TRACEPOINT)),
        _row(
            "bpftrace",
            "runs a BPF program, which may add to a map",
            "reads the map at the end",
            costs("bpftrace", TRACEPOINT),
        ),
        _row("ftrace", "writes a record into a ring", "none, until the ring is read", costs("ftrace", TRACEPOINT)),
        _row(
            "perf record",
            "writes a record into a ring",
            "wakes up, copies the ring into a file",
            costs("perf-record", TRACEPOINT),
        ),
        _row(
            "LTTng-UST",
            "writes a record into shared memory, without the kernel",
            "a daemon copies it into a file",
            costs("lttng-ust", "03-lttng-recorded"),
        ),
        _row(
            "perf trace",
            "writes two records into a ring, and wakes the tool at each",
            "writes a line for each call",
            costs("perf-trace", PRINTED),
        ),
        _row(
            "strace --seccomp-bpf",
            "stops at entry and at return, and waits each time",
            "wakes up twice, reads registers and memory, writes a line, lets it go on",
            costs("strace-seccomp", PRINTED),
        ),
    )
    return Diagram(
        "where-time-goes",
        "Where each tracer spends its time",
        "The thread pays for what happens in it; the rest needs another CPU, or the thread waits for that too.",
        stages=(Stage("", (Group("", rows),)),),
    )


def _row(tracer: str, thread: str, tool: str, cost: Cost | None) -> Row:
    return Row(
        tracer,
        (
            (Words("in the thread, at each event", "muted"), Words(thread)),
            (Words("in the tracer's process", "muted"), Words(tool)),
        ),
        cost,
    )
