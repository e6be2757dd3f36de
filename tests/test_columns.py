"""Every column of the generated tables has one entry in the dictionary, and templates name no others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import jinja2
import pytest

from builders import PROJECT
from number_builder import number, submission
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.pages import fragments
from probe_effect.pages.markdown import environment
from probe_effect.pages.results import EXPLAINED as COLUMNS
from probe_effect.pages.results.cells import LOSS

if TYPE_CHECKING:
    from probe_effect.pages.wording import TableColumn

PAGES = PROJECT / "generator" / "probe_effect" / "pages"
BARE_HEADER = re.compile(r"^\|(?: [A-Z][^|{\[]* \|)+$\n\|:?-", re.MULTILINE)
"""The header of a table, followed by the line below it, that was written without `head`."""


def rendered(source: str) -> str:
    return environment().from_string('{% import "macros.j2" as m %}' + source).render()


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_an_entry_says_what_a_cell_means_in_a_sentence(column: TableColumn) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", column.id)
    assert column.label
    assert column.meaning.endswith(".")


def test_a_head_leads_to_the_dictionary_and_says_where_cells_stand() -> None:
    head = rendered('{{ m.head(["case", "cost", "grade"]) }}')
    assert head == (
        "| [Case](/data/dictionary/#case) | [Cost of one event](/data/dictionary/#cost) "
        "| [Grade](/data/dictionary/#grade) |\n|:--|--:|:-:|"
    )


def test_a_head_may_have_a_label_of_its_own_and_headers_that_are_data() -> None:
    head = rendered('{{ m.head([("case", "Case, on Linux")], ["6.1 | x"]) }}')
    assert head == "| [Case, on Linux](/data/dictionary/#case) | 6.1 &#124; x |\n|:--|--:|"


def test_a_column_that_nobody_has_explained_stops_the_build() -> None:
    with pytest.raises(jinja2.UndefinedError):
        rendered('{{ m.head(["unheard-of"]) }}')


def test_a_loss_is_a_share_of_all_events_and_not_of_those_that_were_seen() -> None:
    lossy = number(submission(), Estimate(50.0, 45.0, 55.0), loss_ratio=0.2)
    assert LOSS.words(lossy).replace("\u00a0", " ") == "20 %"


def test_no_template_writes_a_header_by_hand() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in PAGES.rglob("*.j2")}
    assert texts
    assert [name for name, text in texts.items() if BARE_HEADER.search(text)] == []


def test_the_dictionary_explains_nothing_that_no_page_has() -> None:
    files = [*PAGES.rglob("*.j2"), *(path for path in PAGES.rglob("*.py") if path.name != "columns.py")]
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    by_hand = "".join(path.read_text(encoding="utf-8") for path in (PROJECT / "content").rglob("*.md"))
    assert [one for one in COLUMNS if f'"{one}"' not in text and f"/data/dictionary/#{one})" not in by_hand] == []


def test_the_dictionary_has_a_place_for_each_column_of_pages_and_of_files() -> None:
    text = fragments.write_all(Catalogue())["dictionary.md"]
    places = re.findall(r"\(#=([^)]+)\)", text)
    assert set(places) >= COLUMNS.keys()
    assert {"samples.wall_ns", "figures.cost_ns", "key.machine.cpu_model"} <= set(places)
    assert len(places) == len(set(places))
