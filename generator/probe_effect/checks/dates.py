"""A run began after the program was there, ended after it began, and not in the future."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSubmission, Fault, Rule
from probe_effect.store.machine_file import MOMENT_FORM

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOL = "probe-effect "
FIRST_DAY = datetime(2026, 11, 20, tzinfo=UTC)
"""Before it nothing could be measured with `TOOL`."""

SLACK = timedelta(days=1)
"""By how much the clock of a machine may be wrong."""

LONGEST = timedelta(days=30)


def _faults(checked: CheckedSubmission) -> Iterator[Fault]:
    document, run = checked.document, checked.document.run
    now = datetime.now(UTC)
    started, ended = _moment(run.started), _moment(run.ended or run.started)
    if started > now + SLACK:
        yield _fault(checked, "run.started", f"began on {run.started}, which is still to come", "set the clock")
    elif document.provenance.tool.startswith(TOOL) and started < FIRST_DAY - SLACK:
        found = f"began on {run.started}, before there was a program to measure with"
        yield _fault(checked, "run.started", found, "set the machine's clock, and measure again")
    elif ended > now + SLACK:
        yield _fault(checked, "run.ended", f"ended on {run.ended}, which is still to come", "set the clock")
    if ended < started:
        yield _fault(checked, "run.ended", "ended before it began", "let the clock alone during a run")
    elif ended - started > LONGEST:
        found = f"took more than {LONGEST.days} days"
        yield _fault(checked, "run.ended", found, "look whether the clock was set in between", is_sure=False)
    moments = [started, *(_moment(text) for text in run.resumed), ended if run.ended else None]
    known = [moment for moment in moments if moment is not None]
    if run.resumed and ended >= started and known != sorted(known):
        yield _fault(checked, "run.resumed", "was continued before it began or after it ended", "let the clock alone")


def _moment(text: str) -> datetime:
    return datetime.strptime(text, MOMENT_FORM).replace(tzinfo=UTC)


def _fault(checked: CheckedSubmission, key: str, found: str, hint: str, *, is_sure: bool = True) -> Fault:
    return Fault("machine.json", checked.line_of(key), f"the run {found}", hint, "error" if is_sure else "warning")


RULE = Rule(
    "dates",
    "A run began when the program was there, ended later, and is not of the future.",
    _faults,
    good="started 2026-11-20T10:00:00Z, ended 2026-11-20T10:30:00Z",
    bad="started 2026-11-20T10:00:00Z, ended 2026-11-20T09:30:00Z",
)
