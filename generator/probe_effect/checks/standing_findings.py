"""A contradiction that a source's page tells of is really in its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSource, Fault, Rule
from probe_effect.numbers.published import fill, stands
from probe_effect.stats.formula import FormulaError

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "source.toml"


def _faults(checked: CheckedSource) -> Iterator[Fault]:
    figures = {figure.figure: figure for figure in checked.figures}
    document = checked.document
    for sentence in (document.summary, *document.remarks, *(finding.sentence for finding in document.findings)):
        try:
            fill(sentence, figures)
        except FormulaError as error:
            yield Fault(FILE, None, str(error), "placeholders are figure ids of figures.csv")
    for finding in document.findings:
        try:
            if not stands(finding, checked.values):
                found = f"finding `{finding.id}`: the source agrees with itself there"
                yield Fault(FILE, None, found, "remove the finding, or mend the figures")
        except FormulaError as error:
            yield Fault(FILE, None, f"finding `{finding.id}`: {error}", "agrees_if is one comparison of figures")


RULE = Rule(
    "standing-findings",
    "Every finding about a source stands, and its numbers are figures.",
    _faults,
    good='"It prints {printed_cost}, its times give {cost}", while the two differ',
    bad="the same sentence once the figures agree",
)
