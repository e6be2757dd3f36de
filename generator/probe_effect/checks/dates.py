"""A run began after the program was there, ended after it began, and not in the future."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from probe_effect.checks.rule import CheckedSubmission, Fault, rule

TOOL = "probe-effect "
FIRST_DAY = datetime(2026, 11, 20, tzinfo=UTC)
"""Before it nothing could be measured with `TOOL`."""

SLACK = timedelta(days=1)
"""By how much the clock of a machine may be wrong."""

LONGEST = timedelta(days=30)


@rule("dates")
def _dates(checked: CheckedSubmission) -> Iterator[Fault]:
    run = checked.document.run
    latest = datetime.now(UTC) + SLACK
    started, ended = datetime.fromisoformat(run.started), datetime.fromisoformat(run.ended or run.started)
    if started > latest:
        yield checked.fault("run.started", f"the run began on {run.started}, which is still to come", "set the clock")
    elif checked.document.provenance.tool.startswith(TOOL) and started < FIRST_DAY - SLACK:
        found = f"the run began on {run.started}, before there was a program to measure with"
        yield checked.fault("run.started", found, "set the machine's clock, and measure again")
    elif ended > latest:
        yield checked.fault("run.ended", f"the run ended on {run.ended}, which is still to come", "set the clock")
    if ended < started:
        yield checked.fault("run.ended", "the run ended before it began", "let the clock alone during a run")
    elif ended - started > LONGEST:
        found = f"the run took more than {LONGEST.days} days"
        yield checked.fault("run.ended", found, "look whether the clock was set in between", "warning")
    known = [started, *map(datetime.fromisoformat, run.resumed), *([ended] if run.ended else [])]
    if run.resumed and ended >= started and known != sorted(known):
        found = "the run was continued before it began or after it ended"
        yield checked.fault("run.resumed", found, "let the clock alone")


RULES = (_dates,)
