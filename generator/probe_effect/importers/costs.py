"""From series to costs: the times of one operation or run, and what the traced ones add to the untraced."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from probe_effect.importers.extracted import named
from probe_effect.importers.figures import COST, PRINTED, TIMES, Figures, add_printed, row, stems
from probe_effect.importers.files import refuse
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from probe_effect.importers.extracted import Extracted, Series

OPERATIONS = "operations"
TOLD_OPERATIONS = "Told by whoever imported the file; it is not in it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the user says beyond the files: the options of `probe-effect import`.

    `facts` are keys of `source.toml` and win over what the files say; `cases` leads from the name of a series to our
    case; `operations`: how many a whole run made.
    """

    facts: Mapping[str, str]
    baseline: str | None = None
    cases: Mapping[str, str] = field(default_factory=dict)
    tracer: str | None = None
    operations: int | None = None


@dataclass(frozen=True, slots=True)
class Timed:
    """A series with the ids of the figures that say its time, and its fastest where runs were repeated."""

    series: Series
    stem: str
    time: str
    fastest: str | None


@dataclass(slots=True)
class Costs:
    """The figures of what was extracted; `timed` are the sound series, `added` the ids of what tracing added."""

    extracted: Extracted
    options: Options
    figures: Figures = field(default_factory=Figures)
    timed: list[Timed] = field(default_factory=list)
    untraced: Timed | None = None
    added: list[str] = field(default_factory=list)

    @property
    def of(self) -> str:
        """What each time of the file is for: a whole `run`, or one `operation`."""
        return "run" if self.extracted.whole_runs and self.options.operations is None else "operation"

    @property
    def unit(self) -> str:
        """The unit of derived times."""
        return "ms" if self.of == "run" else "ns"

    def draw(self) -> None:
        """Make every figure. Raises: UsageError when nothing can be timed, or the baseline cannot."""
        self._add_times()
        wanted = self.options.baseline or self.extracted.baseline
        if wanted is None:
            return
        self.untraced = self._baseline(wanted)
        for one in self.timed:
            if one is not self.untraced and not one.series.untraced:
                self._add_cost(one, self.untraced)

    def ends(self, ids: Iterable[str]) -> tuple[str, str]:
        """The least and the greatest of some figures."""
        ordered = sorted(ids, key=lambda one: self.figures.values[one])
        return ordered[0], ordered[-1]

    def _add_times(self) -> None:
        """Every printed figure first, then the time of each sound series."""
        every = self.extracted.series
        given = stems(every)
        ids = {one.name: add_printed(self.figures, one, given[one.name]) for one in every}
        if self.options.operations is not None:
            count, what = Decimal(self.options.operations), "operations of one run"
            self.figures.add(row(OPERATIONS, PRINTED, what, count, "count", printed=str(count), note=TOLD_OPERATIONS))
        for one in every:
            if one.flaw is None and self.figures.value(self._formula(one.time, ids[one.name])):
                self.timed.append(self._timed(one, given[one.name], ids[one.name]))
        if not self.timed:
            names = ", ".join(f"`{one.name}`" for one in every[:3])
            refuse(names, "no time above 0 of a run that ended well", "one at least", "Measure again.")

    def _timed(self, one: Series, stem: str, ids: dict[str, str]) -> Timed:
        time = self._time(f"time_{stem}", one.time, ids, f"time of one {self.of}, {one.name}", None)
        if one.fastest is None:
            return Timed(one, stem, time, None)
        what = f"least time of one {self.of}, {one.name}"
        return Timed(one, stem, time, self._time(f"fastest_{stem}", one.fastest, ids, what, "fastest run"))

    def _time(self, figure: str, template: str, ids: dict[str, str], what: str, statistic: str | None) -> str:
        """The id of the figure that has a time: a printed one where that is it already."""
        formula = self._formula(template, ids)
        if formula in self.figures.values and self.of == "operation":
            return formula
        return self.figures.derive(figure, TIMES, what, self.unit, formula, statistic=statistic)

    def _formula(self, template: str, ids: dict[str, str]) -> str:
        formula = template.format(**ids)
        return formula if self.options.operations is None else f"{formula} / {OPERATIONS}"

    def _baseline(self, wanted: str) -> Timed:
        named(wanted, [one.name for one in self.extracted.series], "--baseline")
        found = next((one for one in self.timed if one.series.name == wanted), None)
        if found is None:
            do = "Measure it again, or name another."
            refuse("--baseline", f"`{printable(wanted)}` has no sound time", "runs that ended well", do)
        return found

    def _add_cost(self, one: Timed, untraced: Timed) -> None:
        """What one series adds, what its fastest run adds, and the slowdown."""
        name, difference = one.series.name, f"{one.time} - {untraced.time}"
        if self.of == "run":
            what = f"added time of one run, {name}"
            self.added.append(self.figures.derive(f"added_{one.stem}", COST, what, self.unit, difference))
        else:
            what, cells = f"added time per operation, {name}", self._cells(one.series)
            self.added.append(self.figures.cost(f"cost_{one.stem}", what, one.time, untraced.time, **cells))
        if one.fastest and untraced.fastest:
            what, formula = f"added time between the fastest runs, {name}", f"{one.fastest} - {untraced.fastest}"
            self.figures.derive(f"fastest_cost_{one.stem}", COST, what, self.unit, formula, statistic="fastest run")
        formula = f"({difference}) / {untraced.time}"
        self.figures.derive(f"slowdown_{one.stem}", COST, f"slowdown, {name}", "percent", formula)

    def _cells(self, one: Series) -> dict[str, str | None]:
        """The columns of figures.csv that say which case, tracer, probe and action a cost belongs to."""
        return {
            "case": self.options.cases.get(one.name, one.case),
            "tracer": self.options.tracer or one.tracer,
            "probe": one.probe,
            "action": one.action,
        }
