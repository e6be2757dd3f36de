"""Numbers with their intervals as readers see them, the columns that hold them, and sentences on them.

Headers link to their entry, `/data/dictionary/#<id>` (`head` in `templates/macros.j2`).
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from probe_effect import units
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.reduce.submission import Number
from probe_effect.store.beside_files import SourceFile
from probe_effect.store.machine_file import MachineFile
from probe_effect.toml import beside

NOT_STATED = "not stated"

UNCLEAR = "not distinguishable from 0 (below {most})"
"""The text for a cost that is no difference."""

WITH_LOSSES = ", with losses"
"""What follows a cost of which events were lost: it is in no range."""

THRESHOLD_COLUMN = (
    "“5\u00a0% at” is the rate of events at which one busy thread slows by 5\u00a0%; it slows by 1\u00a0% at a fifth "
    "of that rate, and by 30\u00a0% at six times."
)
"""The note that derives the other two thresholds from the one in a table."""


def cost(case: Number) -> str:
    """The cost of a case; where it is no difference, in words, with what it may be at most."""
    if case.cost is None:
        return case.status
    if case.distinguishable is False:
        return unclear(case.cost.high, case.time.noise_floor_ns)
    return f"{units.interval(case.cost, units.DURATION)}{WITH_LOSSES if case.has_losses else ''}"


def unclear(high_ns: float | None, floor_ns: float | None) -> str:
    """A cost that is no difference, with the most that it can be: its high end, and no less than the noise floor."""
    return UNCLEAR.format(most=units.duration(max(high_ns or 0.0, floor_ns or 0.0), 2))


def slowdown(case: Number) -> str:
    """Slowdown of the workload itself, which does nothing but fire the probe."""
    if case.distinguishable is not False:
        return units.interval(case.time.slowdown, units.SHARE)
    most = most_slowdown(case)
    return units.MISSING if most is None else f"at most {units.percent(most, 2)}"


def most_slowdown(case: Number) -> float | None:
    """What the slowdown may be at most where it is no difference, as a ratio; None where that is not known."""
    cost, baseline = case.bounded_cost.high, case.baseline
    return None if cost is None or not baseline or not baseline.value else max(0.0, cost) / baseline.value


def threshold(case: Number, percent: int) -> str:
    """The rate at which slowdown reaches so many per cent."""
    return units.interval(case.threshold(percent), units.RATE)


def start(case: Number) -> str:
    """The time, or the instructions, until the tracer has its probes live."""
    return _of_run(case, case.event.attach)


def stop(case: Number) -> str:
    """The time, or the instructions, until the tracer has exited when asked."""
    return _of_run(case, case.event.detach)


def _of_run(case: Number, taken: Estimate | None) -> str:
    return units.interval(taken, units.DURATION) if case.is_time else units.spread(taken, units.MANY_INSTRUCTIONS)


def tracer_cpu(case: Number) -> str:
    """CPU time of the tracer itself: for an operation where that was measured, else for a run."""
    return units.interval(case.own_use.cpu or case.time.cpu, units.DURATION)


def from_to(values: Collection[float], written: Callable[[float, int], str] = units.duration) -> str:
    """The least and the greatest of some values, ns unless `written` says otherwise: `27 ns to 34 µs`."""
    return " to ".join(dict.fromkeys(written(end, 2) for end in (min(values), max(values))))


def source_label(document: SourceFile) -> str:
    """Who and when, as a table or a caption calls a source; the title where no author is stated."""
    who = document.title if document.author == NOT_STATED else document.author
    return who if document.date == NOT_STATED else f"{who}, {names.date_words(document.date)}"


def tier(document: MachineFile) -> str:
    """The tier of a machine as readers see it; times of different tiers never share a ranking."""
    return names.tier_words(names.tier(document.machine, document.run.metric))


RULES = {"left": ":--", "right": "--:", "center": ":-:"}
"""How Markdown writes the alignment of a column."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column: its id, its header, what a cell says, the unit of its cells, and how they are aligned."""

    id: str
    label: str
    meaning: str
    unit: str = ""
    align: Literal["left", "right", "center"] = "left"

    @property
    def rule(self) -> str:
        """Its alignment as the line below a Markdown header has it."""
        return RULES[self.align]


_FILE = beside(__file__, "columns")
COLUMNS = {name: TableColumn(name, **own) for name, own in _FILE.items()}
"""Column id to column, in the order of the dictionary."""
