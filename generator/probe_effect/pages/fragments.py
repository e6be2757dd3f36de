"""Generated pieces that hand-written pages include: tables over all machines, and lists that grow with the data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from probe_effect import wanted
from probe_effect.answer.prediction import BANDS
from probe_effect.costs.evidence import evidence
from probe_effect.numbers.catalogue import Catalogue, PublishedSource, SuiteFolder
from probe_effect.numbers.shown import FIRST_SUITE, distances, representative, shown_machines
from probe_effect.pages import case_answer, changes_page, kernels_page, ladder_page, machine_page, wording
from probe_effect.pages.changes_page import entries
from probe_effect.pages.markdown import page, render
from probe_effect.pages.results import EXPLAINED, measured_range
from probe_effect.pages.source_page import READ, baselines
from probe_effect.reduce.submission import OF_CASE, OF_SUBMISSION
from probe_effect.store.dictionary import TABLES, document_keys

PER_PAGE = 100


@dataclass(frozen=True, slots=True)
class Listing:
    """A list by the fragment that prints a part of it, the page where it begins, and what that page is called."""

    fragment: str
    section: str
    title: str
    items: Sequence[Any]
    values: dict[str, object]

    @property
    def count(self) -> int:
        """How many pages the list has; an empty one has a page that says so."""
        return max(1, -(-len(self.items) // PER_PAGE))

    def part(self, number: int) -> str:
        """The Markdown of one page of the list; pages are counted from 1."""
        items = self.items[(number - 1) * PER_PAGE : number * PER_PAGE]
        place = {"section": self.section, "number": number, "count": self.count}
        return render(f"fragments/{self.fragment}.j2", items=items, place=place, **self.values)


def write_first(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to the beginning of each list."""
    return {one.fragment: one.part(1) for one in _lists(catalogue)}


def write_further(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Path and text of each further page, for the items that the pages of sections do not have."""
    for one in _lists(catalogue):
        for number in range(2, one.count + 1):
            front = {"title": f"{one.title}, page {number}", "kind": "list", "weight": PER_PAGE * 1000 + number}
            yield f"{one.section}/page/{number}.md", page("list.md.j2", front, part=one.part(number))


def _lists(catalogue: Catalogue) -> list[Listing]:
    machines = list(catalogue.numbers.machines().items())
    by_metric = sorted(catalogue.numbers.submissions, key=lambda one: one.metric != "time")
    of_machines = {"representative": representative, "charts": machine_page.charts(catalogue)}
    of_changes = {"log": changes_page, "titles": {source.id: source.document.title for source in catalogue.sources}}
    return [
        Listing("machines.md", "machines", "Machines", machines, of_machines),
        Listing("results.md", "results", "Results", by_metric, {}),
        Listing("files.md", "data/files", "Files", [*by_metric, *catalogue.sources], {}),
        Listing("data-changes.md", "data/changes", "Changes of the data", entries(catalogue), of_changes),
    ]


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown."""
    found, suites = evidence(catalogue), first_suite_first(catalogue)
    values: dict[str, dict[str, object]] = {
        "all-costs": {
            "suites": suites,
            "measured": measured_range,
            "estimated": partial(case_answer.cell, found, machines=shown_machines(catalogue.numbers)),
        },
        "bands": {"bands": BANDS},
        "published-costs": {},
        "sources": {"sources": best_known_first(catalogue), "read": READ, "baselines": baselines},
        "suites": {"suites": suites},
        "wanted": {"lacking": wanted},
        "grades": {"rules": {"a submission": OF_SUBMISSION, "a case": OF_CASE}},
        "distances": {
            "distances": distances(catalogue.numbers),
            "newest": {machine: found[0] for machine, found in catalogue.numbers.machines().items()},
        },
        "dictionary": {"explained": EXPLAINED.values(), "tables": TABLES, "keys": document_keys()},
    }
    made = {
        f"{name}.md": render(f"fragments/{name}.md.j2", catalogue=catalogue, titles=catalogue.titles, **own)
        for name, own in values.items()
    }
    own = {"estimates.md": case_answer.write(found), **ladder_page.write(catalogue)}
    return {**own, **made, **write_first(catalogue), **kernels_page.write_all(catalogue)}


def first_suite_first(catalogue: Catalogue) -> list[SuiteFolder]:
    """All suites, the first of them being that of the home page."""
    return sorted(catalogue.suites, key=lambda folder: folder.suite.id != FIRST_SUITE)


def best_known_first(catalogue: Catalogue) -> list[PublishedSource]:
    """Sources read in full before those known from a file or an excerpt, newest first among each."""
    newest = sorted(catalogue.sources, key=lambda source: source.document.date, reverse=True)
    dated = sorted(newest, key=lambda source: source.document.date == wording.NOT_STATED)
    return sorted(dated, key=lambda source: list(READ).index(source.document.read))
