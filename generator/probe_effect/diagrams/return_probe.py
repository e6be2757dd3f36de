"""How the return of a function is probed: by another return address, or by calling the function.

Read for it: `prepare_uretprobe` and `uprobe_handle_trampoline` in `kernel/events/uprobes.c`, `arch_prepare_kretprobe`,
`kernel/trace/rethook.c` and `arch_prepare_bpf_trampoline` of Linux.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.diagrams.diagram import Diagram, Panel, Step

if TYPE_CHECKING:
    from probe_effect.diagrams.diagram import Costs

USER, KERNEL = ("program", "kernel"), ("function", "tracing")
HERE, THERE = 0, 1

CALL = Step(HERE, "the nop at its entry has become a call")
CALLER = Step(HERE, "goes on in the caller", "return")


def diagram(costs: Costs) -> Diagram:
    """The three ways in which a function tells that it returns."""
    return Diagram(
        "return-probe",
        "A return probe is an entry probe with more to do",
        "A function has one entry and many ends, so its return is caught from its entry.",
        panels=(
            Panel(
                "uretprobe (x86-64, Linux 6.11)",
                USER,
                (
                    Step(HERE, "int3 stands at the function's entry"),
                    Step(THERE, "notes the return address, puts another in its place", "exception"),
                    Step(HERE, "the function runs, and returns into a trampoline", "return"),
                    Step(THERE, "runs what is attached", "system call", is_probe=True),
                    CALLER,
                ),
                costs("bpftrace", "10-uretprobe-push"),
            ),
            Panel(
                "kretprobe",
                KERNEL,
                (
                    CALL,
                    Step(THERE, "notes the return address, puts another in its place", "call"),
                    Step(HERE, "its body runs, and returns into a trampoline", "return"),
                    Step(THERE, "runs what is attached", "return", is_probe=True),
                    CALLER,
                ),
                costs("bpftrace", "03-kretprobe"),
            ),
            Panel(
                "fexit: the trampoline calls",
                KERNEL,
                (
                    CALL,
                    Step(THERE, "a trampoline made for it saves its arguments", "call"),
                    Step(HERE, "its body runs, and returns as ever", "call"),
                    Step(THERE, "runs what is attached, with the result", "return", is_probe=True),
                    CALLER,
                ),
                costs("bpftrace", "20-fexit"),
            ),
        ),
    )
