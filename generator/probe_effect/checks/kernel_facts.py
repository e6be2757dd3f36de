"""What was measured is what the kernel has, by its release and its build options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSubmission, Fault, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.store.suite_file import Need

OPTIONS: dict[Need, str] = {
    "kprobe": "CONFIG_KPROBES",
    "uprobe": "CONFIG_UPROBES",
    "fentry": "CONFIG_DEBUG_INFO_BTF",
    "raw-tracepoint": "CONFIG_BPF_EVENTS",
    "kprobe-multi": "CONFIG_FPROBE",
    "function-tracer": "CONFIG_FUNCTION_TRACER",
    "function-graph": "CONFIG_FUNCTION_GRAPH_TRACER",
}
"""What a case needs, to the option without which no Linux has it."""

FIRST_RELEASE: dict[Need, tuple[int, int]] = {"uprobe": (3, 5), "fentry": (5, 5), "kprobe-multi": (5, 18)}
BACKPORTS = re.compile(r"\.el\d|\.amzn|\.uek|\.fc\d")
"""Kernels that take features from later releases say so in their name."""


def _faults(checked: CheckedSubmission) -> Iterator[Fault]:
    config = checked.document.system.kernel_config
    if not config:  # not Linux, or not readable there
        return
    release = _release(checked.document.system.kernel_release)
    for need, (line, case) in _used(checked).items():
        option = OPTIONS.get(need)
        if option is not None and config.get(option) == "n":
            yield _fault(line, f"case `{case}` was measured, but the kernel has {option}=n")
        elif release and release < FIRST_RELEASE.get(need, (0, 0)):
            name = ".".join(str(part) for part in release)
            yield _fault(line, f"case `{case}` was measured, but Linux {name} has no {need}")


def _used(checked: CheckedSubmission) -> dict[Need, tuple[int, str]]:
    """What the measured cases needed, each with the first row that used it."""
    cases = {case.id: case for case in checked.suite.cases} if checked.suite else {}
    used: dict[Need, tuple[int, str]] = {}
    for line, sample in checked.lines():
        if sample.arm == "traced" and sample.status == "ok" and (case := cases.get(sample.case)):
            for need in case.needs:
                used.setdefault(need, (line, case.id))
    return used


def _release(text: str) -> tuple[int, int] | None:
    found = re.match(r"(\d{1,3})\.(\d{1,3})\b", text)
    return None if found is None or BACKPORTS.search(text) else (int(found[1]), int(found[2]))


def _fault(line: int, found: str) -> Fault:
    return Fault("samples.csv", line, found, "look whether the recorded kernel is the one that ran", "warning")


RULE = Rule(
    "kernel-facts",
    "No case was measured whose probe the recorded kernel does not have.",
    _faults,
    good="`02-kprobe` measured, CONFIG_KPROBES=y",
    bad="`02-kprobe` measured, CONFIG_KPROBES=n",
)
