"""From a question to a probe, an action and a tool, and from its rate to whether it may run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.answer.bands import BANDS
from probe_effect.diagrams.diagram import Diagram, Group, Row, Stage, Words

if TYPE_CHECKING:
    from probe_effect.diagrams.diagram import Cost, Costs


def diagram(costs: Costs) -> Diagram:
    """Three questions: what is asked, where it happens, and how often."""
    return Diagram(
        "decision",
        "From a question to a probe",
        "Three questions, in this order. Code is for bpftrace, costs are of one event, instructions are those of x86.",
        stages=(
            Stage("1. What is my question?", (Group("", QUESTIONS),)),
            Stage(
                "2. Where does it happen? Take the first that is there.",
                (Group("in the kernel", _kernel(costs)), Group("in a program", _program(costs))),
            ),
            Stage(
                "3. How often does it fire, in the busiest thread? Rate × cost is its slowdown.", (Group("", RATES),)
            ),
        ),
    )


def _row(when: str, strong: str, *code: str, plain: str = "", cost: Cost | None = None) -> Row:
    more = (Words(plain),) if plain else ()
    return Row(when, ((Words(strong, "strong"), *(Words(one, "code") for one in code), *more),), cost)


QUESTIONS = (
    _row("How often?", "count (bpftrace, perf stat)", "@ = count()"),
    _row("How long?", "histogram, from both ends", "@ = hist(nsecs - @start[tid])"),
    _row("Who calls?", "count by stack", "@[ustack] = count()"),
    _row("What value?", "histogram, or a key", "@ = hist(args->count)"),
    _row("Where does the time go?", "no probe, but samples: skip 2", "perf record -F 99 -g -p PID"),
)


def _kernel(costs: Costs) -> tuple[Row, ...]:
    raw = costs("bpftrace", "21-raw-tracepoint") or costs("libbpf", "21-raw-tracepoint")
    return (
        _row(
            "a system call",
            "tracepoint",
            "tracepoint:syscalls:sys_enter_read",
            cost=costs("bpftrace", "04-tracepoint-entry"),
        ),
        _row("another static probe", "raw tracepoint", "rawtracepoint:sched_switch", cost=raw),
        _row("a function, and BTF", "fentry", "kfunc:vfs_read", cost=costs("bpftrace", "19-fentry")),
        _row("a function, no BTF", "kprobe", "kprobe:vfs_read", cost=costs("bpftrace", "02-kprobe")),
        _row("its return, and BTF", "fexit", "kretfunc:vfs_read", cost=costs("bpftrace", "20-fexit")),
        _row("its return, no BTF", "kretprobe", "kretprobe:vfs_read", cost=costs("bpftrace", "03-kretprobe")),
    )


def _program(costs: Costs) -> tuple[Row, ...]:
    return (
        _row("a static probe", "USDT", "usdt:PROGRAM:PROBE", cost=costs("bpftrace", "04-usdt-enabled")),
        _row(
            "a function that begins with a nop of five bytes, x86-64, Linux 6.18",
            "uprobe, called",
            "uprobe:PROGRAM:FUNCTION",
            cost=costs("bpftrace", "03-uprobe-nop5"),
        ),
        _row(
            "that begins with nop, jump or call; on x86-64 push",
            "uprobe, emulated",
            "uprobe:PROGRAM:FUNCTION",
            cost=costs("bpftrace", "04-uprobe-push"),
        ),
        _row(
            "that begins with anything else",
            "uprobe, stepped",
            "uprobe:PROGRAM:FUNCTION",
            plain="better: its caller, or one it calls",
            cost=costs("bpftrace", "05-uprobe-rip-mov"),
        ),
        _row(
            "the return of a function",
            "uretprobe",
            "uretprobe:PROGRAM:FUNCTION",
            cost=costs("bpftrace", "10-uretprobe-push"),
        ),
    )


RATES = (
    _row("not known", "count it for a second", "probe-effect advise -e SCRIPT"),
    *(_row(band.range, band.recommendation) for band in BANDS),
)
