"""Every row is of a case and a level that its suite knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSubmission, Fault, Rule
from probe_effect.model import NO_TRACER
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterator


def _faults(checked: CheckedSubmission) -> Iterator[Fault]:
    if checked.suite is None:
        found = f"suite `{checked.document.run.suite}` is not known"
        yield Fault("machine.json", None, found, "`probe-effect suites` lists those that are")
        return
    known = {case.id for case in checked.suite.cases}
    levels = checked.suite.levels or (None,)
    for line, sample in checked.lines():
        if sample.tracer != NO_TRACER and sample.case not in known:
            found = f"case `{sample.case}` is not in suite `{checked.suite.id}`"
            yield Fault("samples.csv", line, found, "use the case ids of the suite's suite.toml")
        if sample.level not in levels:
            found = "no level" if sample.level is None else f"level `{printable(sample.level)}`"
            hint = "use the levels of the suite's suite.toml; leave the cell empty where the suite has none"
            yield Fault("samples.csv", line, f"{found} in a row of suite `{checked.suite.id}`", hint)


RULE = Rule(
    "known-cases",
    "Every case and every level is one of its suite.",
    _faults,
    good="`02-kprobe`, which the suite has",
    bad="`99-else`, which it has not",
)
