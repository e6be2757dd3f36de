"""A published source can be looked for, its figures follow from their formulas, and what its page tells is in them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from probe_effect.checks.rule import Fault, rule
from probe_effect.numbers.published import compare, fill, recompute, stands
from probe_effect.stats.formula import FormulaError, evaluate
from probe_effect.store.documents import SLUG, TAKEN, value_line
from probe_effect.store.source_file import Figure, SourceFile
from probe_effect.store.tables import printable

MAX_FIGURES = 1000
"""Of one source; their formulas are all computed."""

NOTHING = frozenset({"not stated", "unknown", "none", "n/a", "tbd", "todo", "?"})

DOCUMENT, FIGURES = "source.toml", "figures.csv"


@dataclass(frozen=True, slots=True)
class CheckedSource:
    """A published source whose files could be read."""

    folder: Path
    document: SourceFile
    figures: Sequence[Figure]
    values: Mapping[str, Fraction]


@rule("source-size")
def source_size(figures: Sequence[Figure]) -> Iterator[Fault]:
    """Asked before all others of a source."""
    if len(figures) > MAX_FIGURES:
        yield Fault(FIGURES, None, f"holds more than {MAX_FIGURES} figures")


@rule("source/folder-name")
def _folder_name(checked: CheckedSource) -> Iterator[Fault]:
    if not re.fullmatch(SLUG, checked.folder.name) or checked.folder.name in TAKEN:
        yield Fault(DOCUMENT, None, f"folder `{printable(checked.folder.name)}` is not an id")


@rule("findable-source")
def _findable_source(checked: CheckedSource) -> Iterator[Fault]:
    document = checked.document
    if all(said.strip().lower() in NOTHING for said in (document.title, document.author, document.where)):
        line = value_line(checked.folder / DOCUMENT, ["where"])
        yield Fault(DOCUMENT, line, "neither title, author nor place of the source is stated")


@rule("derived-figures")
def _derived_figures(checked: CheckedSource) -> Iterator[Fault]:
    ids = Counter(figure.figure for figure in checked.figures)
    for figure in checked.figures:
        if figure.figure in TAKEN:
            yield Fault(FIGURES, figure.line, f"`{figure.figure}` is a name that pages use", "give it another id")
        if ids[figure.figure] > 1:
            yield Fault(FIGURES, figure.line, f"there are two figures `{figure.figure}`", "give each figure its own id")
        for found, hint in _missing(figure):
            yield Fault(FIGURES, figure.line, found, hint)
        try:
            for found in _differing(figure, checked.values):
                yield Fault(FIGURES, figure.line, found, "write what the formula gives")
        except FormulaError as error:
            yield Fault(FIGURES, figure.line, str(error), "use figure ids of this file and + - * / ( )")


def _missing(figure: Figure) -> Iterator[tuple[str, str]]:
    """Cells that must come together; and what to do."""
    if figure.printed is None and figure.formula is None:
        yield "neither printed nor derived", "fill `printed` or `formula`"
    if (figure.cost_ns is None) != (figure.cost_from is None):
        yield "cost_ns and cost_from come together", "say whether it was printed or derived"
    if (figure.baseline_ns is None) != (figure.baseline_from is None):
        yield "baseline_ns and baseline_from come together", "say where it comes from"
    if figure.baseline_from == "derived" and figure.baseline_formula is None:
        yield "a derived baseline without baseline_formula", "say how it follows"


def _differing(figure: Figure, values: Mapping[str, Fraction]) -> Iterator[str]:
    """Cells that are not what their formula gives. Raises: FormulaError."""
    recomputed = recompute(figure, values)
    if recomputed and figure.printed is None and recomputed.verdict != "agrees":
        yield f"value {figure.value} {figure.unit}, but its formula gives {float(recomputed.value):.6g}"
    derived = {
        "cost_ns": figure.formula if figure.cost_from == "derived" else None,
        "baseline_ns": figure.baseline_formula,
    }
    for column, formula in derived.items():
        written = getattr(figure, column)
        if written is not None and formula is not None:
            value = evaluate(formula, values)
            if compare(written, value) != "agrees":
                yield f"{column} is {written}, but its formula gives {float(value):.6g}"


@rule("standing-findings")
def _standing_findings(checked: CheckedSource) -> Iterator[Fault]:
    """A contradiction that a source's page tells of is really in its figures."""
    figures = {figure.figure: figure for figure in checked.figures}
    document = checked.document
    notes = (one.note for one in document.repeated if one.note is not None)
    sentences = (finding.sentence for finding in document.findings)
    for sentence in (document.summary, *document.remarks, *sentences, *notes):
        try:
            fill(sentence, figures)
        except FormulaError as error:
            yield Fault(DOCUMENT, None, str(error), "placeholders are figure ids of figures.csv")
    for finding in document.findings:
        try:
            if not stands(finding, checked.values):
                found = f"finding `{finding.id}`: the source agrees with itself there"
                yield Fault(DOCUMENT, None, found, "remove the finding, or mend the figures")
        except FormulaError as error:
            yield Fault(DOCUMENT, None, f"finding `{finding.id}`: {error}", "agrees_if is one comparison of figures")


RULES = (_folder_name, _findable_source, _derived_figures, _standing_findings)
