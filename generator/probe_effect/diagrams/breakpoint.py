"""What happens at a uprobe: its instruction stepped, emulated, or become a call.

Read for it: `handle_swbp` and `uprobe_post_sstep_notifier` in Linux's `kernel/events/uprobes.c`, and `push_emulate_op`,
`branch_emulate_op` and `arch_uprobe_optimize` in `arch/x86/kernel/uprobes.c`; `uprobe_brk_handler`,
`uprobe_single_step_handler` and `arch_uprobe_skip_sstep` in `arch/arm64/kernel/probes/uprobes.c`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.diagrams.diagram import Diagram, Panel, Step

if TYPE_CHECKING:
    from probe_effect.diagrams.diagram import Costs

SIDES = ("program", "kernel")
PROGRAM, KERNEL = 0, 1

HIT = Step(PROGRAM, "a breakpoint stands there: int3 on x86-64, brk on arm64")
PROBE = Step(KERNEL, "finds the uprobe, runs what is attached", "exception", is_probe=True)
GOES_ON = Step(PROGRAM, "goes on with the next instruction", "return")


def diagram(costs: Costs) -> Diagram:
    """The three ways past the instruction that a uprobe stands on."""
    return Diagram(
        "breakpoint",
        "A uprobe: three ways past one instruction",
        "The function's first instruction decides how often one event enters the kernel, and so what it costs. "
        "The costs are of x86-64.",
        panels=(
            Panel(
                "Stepped: any other instruction",
                SIDES,
                (
                    HIT,
                    PROBE,
                    Step(PROGRAM, "executes a copy of the instruction, kept elsewhere", "return, single step"),
                    Step(KERNEL, "puts the instruction pointer right", "second exception"),
                    GOES_ON,
                ),
                costs("bpftrace", "05-uprobe-rip-mov"),
            ),
            Panel(
                "Emulated: nop, jump or call; on x86-64 push",
                SIDES,
                (HIT, PROBE, Step(KERNEL, "does what the instruction would have done"), GOES_ON),
                costs("bpftrace", "04-uprobe-push"),
            ),
            Panel(
                "Called: nop of five bytes, x86-64, Linux 6.18",
                SIDES,
                (
                    Step(PROGRAM, "the nop has become a call into the uprobe trampoline"),
                    Step(PROGRAM, "the trampoline makes a system call"),
                    Step(KERNEL, "finds the uprobe, runs what is attached", "system call", is_probe=True),
                    GOES_ON,
                ),
                costs("bpftrace", "03-uprobe-nop5"),
            ),
        ),
    )
