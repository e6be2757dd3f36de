"""Lists that grow with the data: the first hundred on the page of their section, the others on pages of their own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.changes import entries
from probe_effect.numbers.shown import representative
from probe_effect.pages import changes_page, findings
from probe_effect.pages.markdown import page, render

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
    of_machines = {"representative": representative, "charts": findings.charts(catalogue)}
    of_changes = {"log": changes_page, "titles": {source.id: source.document.title for source in catalogue.sources}}
    return [
        Listing("machines.md", "machines", "Machines", machines, of_machines),
        Listing("results.md", "results", "Results", by_metric, {}),
        Listing("files.md", "data/files", "Files", [*by_metric, *catalogue.sources], {}),
        Listing("data-changes.md", "data/changes", "Changes of the data", entries(catalogue), of_changes),
    ]
