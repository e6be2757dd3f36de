"""From arms to costs: the times of one operation or run, and what the traced ones add to the untraced."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from probe_effect.importers.figures import COST, PRINTED, TIMES, Figures, add_printed, row, stems
from probe_effect.importers.files import refuse
from probe_effect.importers.found import named
from probe_effect.importers.numbers import measured
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from probe_effect.importers.found import Arm, Found
    from probe_effect.importers.wishes import Wishes

OPERATIONS = "operations"
TOLD_OPERATIONS = "Told by whoever imported the file; it is not in it."


@dataclass(frozen=True, slots=True)
class Timed:
    """An arm with the ids of the figures that say its time, and its fastest where runs were repeated."""

    arm: Arm
    stem: str
    time: str
    fastest: str | None


@dataclass(slots=True)
class Costs:
    """The figures of what was found; `timed` are the sound arms, `added` the ids of what tracing added."""

    found: Found
    wishes: Wishes
    figures: Figures = field(default_factory=Figures)
    timed: list[Timed] = field(default_factory=list)
    untraced: Timed | None = None
    added: list[str] = field(default_factory=list)

    @property
    def of(self) -> str:
        """What a time is the time of."""
        return "run" if self.found.whole_runs and self.wishes.operations is None else "operation"

    @property
    def unit(self) -> str:
        """The unit of derived times."""
        return "ms" if self.of == "run" else "ns"

    def draw(self) -> None:
        """Make every figure. Raises: UsageError when nothing can be timed, or the baseline cannot."""
        self._add_times()
        wanted = self.wishes.baseline or self.found.baseline
        if wanted is None:
            return
        self.untraced = self._baseline(wanted)
        for one in self.timed:
            if one is not self.untraced and not one.arm.untraced:
                self._add_cost(one, self.untraced)

    def ends(self, ids: Iterable[str]) -> tuple[str, str]:
        """The least and the greatest of some figures."""
        ordered = sorted(ids, key=lambda one: self.figures.values[one])
        return ordered[0], ordered[-1]

    def _add_times(self) -> None:
        """Every printed figure first, then the time of each sound arm."""
        given = stems(self.found.arms)
        ids = {arm.name: add_printed(self.figures, arm, given[arm.name]) for arm in self.found.arms}
        if self.wishes.operations is not None:
            self._add_operations(str(self.wishes.operations))
        for arm in self.found.arms:
            if arm.flaw is None and self.figures.value(self._formula(arm.time, ids[arm.name])):
                self.timed.append(self._timed(arm, given[arm.name], ids[arm.name]))
        if not self.timed:
            names = ", ".join(f"`{arm.name}`" for arm in self.found.arms[:3])
            refuse(names, "no time above 0 of a run that ended well", "one at least", "Measure again.")

    def _add_operations(self, text: str) -> None:
        value = measured(text, "count", "--operations")
        what = "operations of one run"
        self.figures.add(row(OPERATIONS, PRINTED, what, value, "count", printed=text, note=TOLD_OPERATIONS))

    def _timed(self, arm: Arm, stem: str, ids: dict[str, str]) -> Timed:
        time = self._time(f"time_{stem}", arm.time, ids, f"time of one {self.of}, {arm.name}", None)
        if arm.fastest is None:
            return Timed(arm, stem, time, None)
        what = f"least time of one {self.of}, {arm.name}"
        return Timed(arm, stem, time, self._time(f"fastest_{stem}", arm.fastest, ids, what, "fastest run"))

    def _time(self, figure: str, template: str, ids: dict[str, str], what: str, statistic: str | None) -> str:
        """The id of the figure that has a time: a printed one where that is it already."""
        formula = self._formula(template, ids)
        if formula in self.figures.values and self.of == "operation":
            return formula
        return self.figures.derive(figure, TIMES, what, self.unit, formula, statistic=statistic)

    def _formula(self, template: str, ids: dict[str, str]) -> str:
        formula = template.format(**ids)
        return formula if self.wishes.operations is None else f"{formula} / {OPERATIONS}"

    def _baseline(self, wanted: str) -> Timed:
        named(wanted, [arm.name for arm in self.found.arms], "--baseline")
        found = next((one for one in self.timed if one.arm.name == wanted), None)
        if found is None:
            do = "Measure it again, or name another."
            refuse("--baseline", f"`{printable(wanted)}` has no sound time", "runs that ended well", do)
        return found

    def _add_cost(self, one: Timed, untraced: Timed) -> None:
        """What one arm adds, what its fastest run adds, and the slowdown."""
        name, difference = one.arm.name, f"{one.time} - {untraced.time}"
        if self.of == "run":
            what = f"added time of one run, {name}"
            self.added.append(self.figures.derive(f"added_{one.stem}", COST, what, self.unit, difference))
        else:
            what, cells = f"added time per operation, {name}", self._cells(one.arm)
            self.added.append(self.figures.cost(f"cost_{one.stem}", what, one.time, untraced.time, **cells))
        if one.fastest and untraced.fastest:
            what, formula = f"added time between the fastest runs, {name}", f"{one.fastest} - {untraced.fastest}"
            self.figures.derive(f"fastest_cost_{one.stem}", COST, what, self.unit, formula, statistic="fastest run")
        formula = f"({difference}) / {untraced.time}"
        self.figures.derive(f"slowdown_{one.stem}", COST, f"slowdown, {name}", "percent", formula)

    def _cells(self, arm: Arm) -> dict[str, str | None]:
        """What a cost is the cost of."""
        return {
            "case": self.wishes.cases.get(arm.name, arm.case),
            "tracer": self.wishes.tracer or arm.tracer,
            "probe": arm.probe,
            "action": arm.action,
        }
