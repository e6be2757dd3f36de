"""Instructions of one event, counted in emulated machines, where no time is measured."""

from markupsafe import Markup

from probe_effect import units
from probe_effect.pages import instructions
from probe_effect.pages.results import cells
from probe_effect.pages.results.cells import INSTRUCTIONS, LOSS, MECHANISM, SHARE, NumberColumn
from probe_effect.pages.results.view import ResultView
from probe_effect.reduce.submission import Number


def said(number: Number) -> str:
    """`tracing adds 1 234 instructions to one event`."""
    return f"tracing adds {instructions.count(number.cost)} instructions to one event"


COUNTS = ResultView(
    heading="Counts",
    main=INSTRUCTIONS,
    noted="instructions",
    columns=(cells.COUNTED_TRACER, INSTRUCTIONS, SHARE, LOSS, MECHANISM),
    summary={
        "instructions per event (range)": NumberColumn(
            "instructions", lambda one: units.spread(one.cost, units.INSTRUCTIONS)
        ),
        "untraced": NumberColumn("baseline", lambda one: units.spread(one.baseline, units.INSTRUCTIONS)),
        "share added": SHARE,
        "lost": LOSS,
        "kprobes made by": NumberColumn("mechanism", lambda one: one.count.mechanism),
        "blocks": NumberColumn("blocks", lambda one: units.count(one.blocks)),
    },
    quantities=(
        INSTRUCTIONS,
        SHARE,
        cells.COUNTED_BASELINE,
        LOSS,
        MECHANISM,
        cells.COUNTED_START,
        cells.COUNTED_STOP,
        cells.PROBES,
        cells.BLOCKS,
    ),
    block_columns=cells.run_columns(" instructions, an"),
    rows_said=Markup(
        "A run over its operations is `instructions` divided by `operations`, or by `events` where that is empty.\n"
        "The difference that counts is traced less the mean of the untraced runs of the block, divided by the events "
        "that an operation makes ({events}); the count is the median over the blocks."
    ),
    said=said,
    cited="Instructions of one event",
    answered="One event takes {} instructions",
    value=lambda one: f"{instructions.count(one.cost)} instructions",
)
