"""Every tracer of the rows is one that the suites have scripts for, and its version is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSubmission, Fault, Rule
from probe_effect.model import NO_TRACER
from probe_effect.store.suite_file import SCRIPT_SUFFIXES, tool_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def _faults(checked: CheckedSubmission) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for line, sample in checked.lines():
        first.setdefault(sample.tracer, line)
    first.pop(NO_TRACER, None)
    for tracer, line in first.items():
        if tool_of(tracer) is None:
            hint = f"known are {', '.join(SCRIPT_SUFFIXES)}, and each with its version after a hyphen"
            yield Fault("samples.csv", line, f"tracer `{tracer}` is not known", hint)
        elif tracer not in checked.document.tools:
            found = f"the version of tracer `{tracer}` is not in `tools`"
            yield Fault("machine.json", checked.line_of("tools"), found, "let the tool write machine.json")


RULE = Rule(
    "known-tracers",
    "Every tracer of the rows is known, and `tools` has its version.",
    _faults,
    good='rows of `bpftrace`, and `"bpftrace": "bpftrace v0.23.2"` in `tools`',
    bad="rows of `bpftrace`, and no version of it",
)
