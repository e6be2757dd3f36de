"""A page per figure: its own address, its numbers as a table, and how to cite it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.numbers.citation import Subject, cite
from probe_effect.pages import addresses
from probe_effect.pages.markdown import page

if TYPE_CHECKING:
    from probe_effect.charts.theme import Chart
    from probe_effect.numbers.catalogue import Catalogue


def write(chart: Chart, catalogue: Catalogue) -> str:
    """The page of `chart`; what other sites embed is made from it too."""
    found = cite(Subject(chart.name, chart.title, addresses.chart(chart.name)), catalogue.edition)
    front = {
        "title": chart.title,
        "kind": "figure",
        "description": chart.sentence,
        "chart": chart.name,
        "shown_on": chart.page,
        "outputs": ["html", "embed"],
        "cite_what": "figure",
        "cite": {"text": found.text, "bibtex": found.bibtex},
    }
    return page("figure.md.j2", front, chart=chart)
