"""Instructions of one event, counted in emulated machines, where no time is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from probe_effect import units
from probe_effect.pages import instructions, wording
from probe_effect.pages.results.cost import block_columns
from probe_effect.pages.results.view import BLOCKS, LOSS, PROBES, NumberColumn, ResultView

if TYPE_CHECKING:
    from probe_effect.reduce.submission import Number
    from probe_effect.store.suite_file import Factor

TRACER = NumberColumn("tracer", instructions.tracer)
INSTRUCTIONS = NumberColumn("instructions", instructions.added, is_linked=True)
SHARE = NumberColumn("untraced-share", instructions.share)
MECHANISM = NumberColumn("mechanism", lambda one: one.mechanism or "")
START = NumberColumn("start-instructions", wording.start, is_linked=True)
STOP = NumberColumn("stop-instructions", wording.stop, is_linked=True)

ROWS = Markup(
    "A run over its operations is `instructions` divided by `operations`, or by `events` where that is empty.\n"
    "The difference that counts is traced less the mean of the untraced runs of the block, divided by the events that "
    "an operation makes ({events}); the count is the median over the blocks."
)


class Counts(ResultView):
    """Instructions that tracing adds to one event."""

    heading = "Counts"
    main = INSTRUCTIONS
    noted = "instructions"
    summary: tuple[NumberColumn, ...] = (
        NumberColumn(
            "instructions",
            lambda one: units.spread(one.cost, units.INSTRUCTIONS),
            label="instructions per event (range)",
        ),
        NumberColumn("baseline", lambda one: units.spread(one.baseline, units.INSTRUCTIONS), label="untraced"),
        SHARE._replace(label="share added"),
        LOSS._replace(label="lost"),
        NumberColumn("mechanism", lambda one: one.mechanism, label="kprobes made by"),
        NumberColumn("blocks", lambda one: units.count(one.blocks), label="blocks"),
    )
    quantities: tuple[NumberColumn, ...] = (
        INSTRUCTIONS,
        SHARE,
        NumberColumn("baseline", lambda one: instructions.count(one.baseline)),
        LOSS,
        MECHANISM,
        START,
        STOP,
        PROBES,
        BLOCKS,
    )
    block_columns = block_columns(" instructions, an operation", ", instructions an event")

    def columns(self, factor: Factor | None) -> tuple[NumberColumn, ...]:  # noqa: ARG002
        """The same at all levels, which the name of the case says."""
        return (TRACER, INSTRUCTIONS, SHARE, LOSS, MECHANISM)

    def said(self, number: Number) -> str:
        """`tracing adds 1 234 instructions to one event`."""
        return f"tracing adds {instructions.count(number.cost)} instructions to one event"

    def rows_said(self, events: str) -> str:
        """The difference of means, and the median over the blocks."""
        return ROWS.format(events=events)


COUNTS = Counts()
