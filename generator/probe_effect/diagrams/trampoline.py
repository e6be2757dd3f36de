"""How a kernel function is probed: by a call of ftrace, by a BPF trampoline, by a breakpoint.

Read for it: `ftrace.c` and `core.c` in `arch/x86/kernel/kprobes/`, `arch/x86/kernel/ftrace_64.S` and
`kernel/bpf/trampoline.c` of Linux; `ftrace.c` and `probes/kprobes.c` in `arch/arm64/kernel/`. Kprobes on ftrace are in
x86, powerpc, s390, riscv and loongarch, and not in arm64
(`Documentation/features/debug/kprobes-on-ftrace/arch-support.txt`, 6.12).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.diagrams.diagram import Diagram, Panel, Step

if TYPE_CHECKING:
    from probe_effect.diagrams.diagram import Costs

SIDES = ("function", "tracing")
FUNCTION, TRACING = 0, 1

CALL = Step(FUNCTION, "the nop at its entry has become a call: bl on arm64")
BODY = Step(FUNCTION, "its body runs", "return")


def diagram(costs: Costs) -> Diagram:
    """The three ways in which a kernel function tells that it was called."""
    return Diagram(
        "trampoline",
        "A kernel function: called, called directly, or trapped",
        "At a function's entry no exception is needed, because the compiler has left room for a call there; "
        "kprobes of arm64 do not use it. The costs are of x86-64.",
        panels=(
            Panel(
                "kprobe at the entry, x86-64: by ftrace",
                SIDES,
                (
                    Step(FUNCTION, "the nop at its entry has become a call"),
                    Step(TRACING, "ftrace's trampoline saves all registers", "call"),
                    Step(TRACING, "finds the kprobe, runs what is attached", is_probe=True),
                    Step(TRACING, "restores all registers"),
                    BODY,
                ),
                costs("bpftrace", "02-kprobe"),
            ),
            Panel(
                "fentry, on arm64 since Linux 6.4: by a BPF trampoline",
                SIDES,
                (
                    CALL,
                    Step(TRACING, "a trampoline made for it saves its arguments", "call"),
                    Step(TRACING, "runs what is attached", is_probe=True),
                    BODY,
                ),
                costs("bpftrace", "19-fentry"),
            ),
            Panel(
                "kprobe elsewhere, and on arm64 anywhere: by a breakpoint",
                SIDES,
                (
                    Step(FUNCTION, "a breakpoint stands there: int3 on x86-64, brk on arm64"),
                    Step(TRACING, "finds the kprobe, runs what is attached", "exception", is_probe=True),
                    Step(TRACING, "executes a copy of the instruction, or does what it would have done"),
                    Step(FUNCTION, "goes on; on x86-64 a jump may stand for the breakpoint", "return"),
                ),
            ),
        ),
    )
