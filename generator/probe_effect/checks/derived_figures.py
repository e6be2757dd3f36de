"""Figures follow from their formulas: our own exactly, and every formula can be computed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSource, Fault, Rule
from probe_effect.numbers.published import compare, recompute
from probe_effect.stats.formula import FormulaError, evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.store.source_file import Figure

FILE = "figures.csv"


def _faults(checked: CheckedSource) -> Iterator[Fault]:
    ids = Counter(figure.figure for figure in checked.figures)
    for figure in checked.figures:
        if ids[figure.figure] > 1:
            yield Fault(FILE, figure.line, f"figure `{figure.figure}` stands twice", "give each figure its own id")
        yield from _missing(figure)
        try:
            yield from _value_faults(figure, checked)
            yield from _baseline_faults(figure, checked)
        except FormulaError as error:
            yield Fault(FILE, figure.line, str(error), "use figure ids of this file and + - * / ( )")


def _missing(figure: Figure) -> Iterator[Fault]:
    """Cells that must come together."""
    if figure.printed is None and figure.formula is None:
        yield Fault(FILE, figure.line, "neither printed nor derived", "fill `printed` or `formula`")
    if (figure.cost_ns is None) != (figure.cost_from is None):
        yield Fault(FILE, figure.line, "cost_ns and cost_from come together", "say whether it was printed or derived")
    if (figure.baseline_ns is None) != (figure.baseline_from is None):
        yield Fault(FILE, figure.line, "baseline_ns and baseline_from come together", "say where it comes from")
    if figure.baseline_from == "derived" and figure.baseline_formula is None:
        yield Fault(FILE, figure.line, "a derived baseline without baseline_formula", "say how it follows")


def _value_faults(figure: Figure, checked: CheckedSource) -> Iterator[Fault]:
    recomputed = recompute(figure, checked.values)
    if recomputed is None:
        return
    if figure.printed is None and recomputed.verdict != "agrees":
        found = f"value {figure.value} {figure.unit}, but its formula gives {float(recomputed.value):.6g}"
        yield Fault(FILE, figure.line, found, "write what the formula gives")
    if figure.cost_from == "derived" and figure.cost_ns is not None and figure.formula is not None:
        yield from _agree(figure, "cost_ns", figure.formula, checked)


def _baseline_faults(figure: Figure, checked: CheckedSource) -> Iterator[Fault]:
    if figure.baseline_formula is not None and figure.baseline_ns is not None:
        yield from _agree(figure, "baseline_ns", figure.baseline_formula, checked)


def _agree(figure: Figure, column: str, formula: str, checked: CheckedSource) -> Iterator[Fault]:
    written = getattr(figure, column)
    value = evaluate(formula, checked.values)
    if compare(written, value) != "agrees":
        found = f"{column} is {written}, but its formula gives {float(value):.6g}"
        yield Fault(FILE, figure.line, found, "write what the formula gives")


RULE = Rule(
    "derived-figures",
    "Derived figures are what their formulas give; all formulas can be computed.",
    _faults,
    good="value 1000 ns, formula `(traced - plain) / calls`, and that gives 1000",
    bad="value 1001 ns with the same formula",
)
