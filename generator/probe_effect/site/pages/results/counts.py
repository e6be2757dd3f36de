"""Instructions of one event, counted in emulated machines, where no time is measured."""

from collections.abc import Iterator
from itertools import product

from markupsafe import Markup

from probe_effect import units
from probe_effect.compare.kernels import column_of, kernel_names, matrices_of_case
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.submission import Number
from probe_effect.site.pages import instructions, links
from probe_effect.site.pages.kernel_changes import cause_address, causes, changes
from probe_effect.site.pages.parts import Heading, Items, Link, Part, Pieces, Table, column, fold, of_data
from probe_effect.site.pages.results import view
from probe_effect.site.pages.results.view import INSTRUCTIONS, LOSS, MECHANISM, SHARE, NumberColumn, ResultView
from probe_effect.site.pages.text import bracketed, coded, link, say, together
from probe_effect.store.suite_file import Case, Suite


def said(number: Number) -> str:
    """`tracing adds 1 234 instructions to one event`."""
    return f"tracing adds {instructions.count(number.cost)} instructions to one event"


def of_case(suite: Suite, case: Case, catalogue: Catalogue) -> Iterator[Part]:
    """The counts of a case, a table for each architecture, and folded why they changed."""
    each = matrices_of_case(catalogue, suite, case.id)
    known = causes(each, catalogue.explanations)
    marks = [
        (numbers, Link(place, cause_address(cause))) for place, (cause, numbers) in enumerate(known.items(), start=1)
    ]
    if each:
        yield Heading("Instructions")
        yield say("[Counted in emulated machines](/kernels/): no times, and the same wherever they are counted again.")
    for found in each:
        place, kernels = names.architecture(found.architecture), kernel_names(found.kernels)
        ways = list(dict.fromkeys(one.count.mechanism for one in found.all() if one.cost))
        written = instructions.cell if len(ways) == 1 else instructions.made
        rows: list[list[object]] = []
        for row, tracer in product(found.rows, found.tracers):
            if found.along_kernels(row, tracer):
                rows.append([bracketed(instructions.short(tracer), row.level)])
                for one in found.line(row, tracer):
                    own = [part for ids, mark in marks if one and one.id in ids for part in (" ", mark)]
                    rows[-1].append(Pieces([links.number(one, INSTRUCTIONS.id, written(one)), *own]))
        yield Heading(place, 3)
        heads = (of_data(name.replace("Linux ", "")) for name in kernels.values())
        yield Table([column("tracer", f"On {place}, Linux"), *heads], rows)
        made = " or ".join(instructions.MADE.get(way, way) for way in ways if way)
        how = "; the kernel made each probe " if len(ways) == 1 else ", and how the kernel made the probe: "
        yield say("Instructions that one event adds{}.", how + made if made else "")
        for one in (one for one in found.all() if one.faults):
            side = column_of(one).tracer, kernels[column_of(one).kernel]
            yield Items([say("{} {}, {}: {}.", instructions.FLAG, *side, "; ".join(one.faults))])
    if known:
        yield say("A small number leads to the cause of a change, from the kernel or the version of the tracer before.")
    links_of = ((one, link(instructions.CERTAIN[one.certainty], cause_address(one))) for one in known)
    why = [say("{} {}.", coded(cause.says), certainty) for cause, certainty in links_of]
    yield from fold("Why the counts changed", Items(why, is_numbered=True))
    apart = link("what of them can be compared", "/kernels/#two-architectures")
    yield together(
        changes(each) and say("{} of these counts.", link("Every change", f"/kernels/changes/#{case.id}")),
        len(each) > 1 and say("Counts of two architectures are not the same work: {}.", apart),
    )


COUNTS = ResultView(
    heading="Counts",
    main=INSTRUCTIONS,
    columns=(view.COUNTED_TRACER, INSTRUCTIONS, SHARE, LOSS, MECHANISM),
    summary={
        "instructions per event (range)": NumberColumn("instructions", lambda one: instructions.count(one.cost)),
        "untraced": view.COUNTED_BASELINE,
        "share added": SHARE,
        "lost": LOSS,
        "kprobes made by": NumberColumn("mechanism", lambda one: one.count.mechanism),
        "blocks": NumberColumn("blocks", lambda one: units.count(one.blocks)),
    },
    quantities=(INSTRUCTIONS, SHARE, view.COUNTED_BASELINE, LOSS, MECHANISM, *view.COUNTS_OF_RUN),
    rows=view.BlockRows(
        view.run_columns(" instructions, an"),
        Markup(
            "A run over its operations is `instructions` divided by `operations`, or by `events` where that is empty.\n"
            "The difference that counts is traced less the mean of the untraced runs of the block, divided by the "
            "events that an operation makes ({events}); the count is the median over the blocks."
        ),
    ),
    said=said,
    cited="Instructions of one event",
    answered="One event takes {} instructions",
    value=lambda one: f"{instructions.count(one.cost)} instructions",
)
