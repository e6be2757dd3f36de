"""The historical experiments that one command repeats: cases of our suites, and what was printed of them then."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Laboratory:
    """An experiment: the cases of one suite that make it, and the tracers that they need."""

    question: str
    suite: str
    cases: Sequence[str]
    tracers: Sequence[str]
    printed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Case to the published figures to put beside it, `<source>.<figure>`."""
    next: Sequence[tuple[str, str]] = ()
    """What to try when it is done, and the command that does."""


LABORATORIES = {
    "looper": Laboratory(
        question="A loop calls a function: what does counting its calls cost, and what copying its string?",
        suite="user-probes",
        cases=("07-uprobe-prologue", "05-uprobe-rip-mov", "15-string"),
        tracers=("bpftrace",),
        printed={
            "07-uprobe-prologue": ("gregg-2011-pid-provider.cost_count",),
            "15-string": ("gregg-2011-pid-provider.cost_copyinstr",),
        },
        next=(
            ("The other first instructions", "probe-effect measure user-probes --quick"),
            ("A probe on the return as well", "probe-effect measure user-probes --quick --case 13-uretprobe-prologue"),
        ),
    ),
    "dd": Laboratory(
        question="dd copies a byte at a time: what does a probe on its reads cost, and what does strace?",
        suite="per-event",
        cases=("04-tracepoint-entry", "22-system-call"),
        tracers=("bpftrace", "strace"),
        printed={
            "04-tracepoint-entry": (
                "piotrowski-2023-tracing-overhead.ns_bpftrace_04",
                "ivy-bridge-perf-tracepoints.cost_entry",
            ),
            "22-system-call": ("gregg-2014-strace.cost",),
        },
        next=(
            ("By perf", "probe-effect measure per-event --quick --case 04-tracepoint-entry --tracer perf-stat"),
            ("What each action adds", "probe-effect measure combinations --quick"),
        ),
    ),
    "usdt": Laboratory(
        question="A function without a static probe, with one that is dormant, and with one that is enabled: what do "
        "they cost?",
        suite="usdt",
        cases=("02-usdt-compiled-in", "03-usdt-compiled-in-semaphore", "04-usdt-enabled"),
        tracers=("dormant", "bpftrace"),
        printed={
            "03-usdt-compiled-in-semaphore": ("libdatadog-usdt-semaphore.cost_x86_64",),
            "04-usdt-enabled": ("mithun-2007-usdt.cost_run_1_self",),
        },
        next=(
            ("A string of the probe copied", "probe-effect measure usdt --quick --case 06-usdt-enabled-string"),
            ("The same place by its address", "probe-effect lab looper"),
        ),
    ),
}
