"""Every column of the generated tables has one entry in the dictionary."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from helpers.builders import PROJECT
from helpers.number_builder import number, submission
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.site.pages import fragments
from probe_effect.site.pages.parts import COLUMNS, Table, column, fragment, of_data
from probe_effect.site.pages.results.view import LOSS

if TYPE_CHECKING:
    from probe_effect.site.pages.parts import TableColumn

PACKAGE = PROJECT / "generator" / "probe_effect"


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_an_entry_says_what_a_cell_means_in_a_sentence(column: TableColumn) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", column.id)
    assert column.label
    assert "`" not in column.label
    assert column.meaning.endswith(".")


def test_a_head_leads_to_the_dictionary_and_says_where_cells_stand() -> None:
    heads = [column("case", "Case, on Linux"), column("cost"), column("grade"), of_data("6.1 | x")]
    assert fragment([Table(heads, [])]) == (
        "| [Case, on Linux](/data/dictionary/#case) | [Cost of one event](/data/dictionary/#cost) "
        "| [Grade](/data/dictionary/#grade) | 6.1 &#124; x |\n|:--|--:|:-:|--:|\n"
    )


def test_a_column_that_nobody_has_explained_stops_the_build() -> None:
    with pytest.raises(KeyError):
        column("unheard-of")


def test_a_loss_is_a_share_of_all_events_and_not_of_those_that_were_seen() -> None:
    lossy = number(submission(), Estimate(50.0, 45.0, 55.0), loss_ratio=0.2)
    assert LOSS.words(lossy).replace("\u00a0", " ") == "20 %"


def test_the_dictionary_explains_nothing_that_no_page_has() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    by_hand = "".join(path.read_text(encoding="utf-8") for path in (PROJECT / "content").rglob("*.md"))
    assert [one for one in COLUMNS if f'"{one}"' not in text and f"/data/dictionary/#{one})" not in by_hand] == []


def test_the_dictionary_has_a_place_for_each_column_of_pages_and_of_files() -> None:
    text = fragments.write_all(Catalogue())["dictionary.md"]
    places = re.findall(r"\(#=([^)]+)\)", text)
    assert set(places) >= COLUMNS.keys()
    assert {"samples.wall_ns", "figures.cost_ns", "key.machine.cpu_model"} <= set(places)
    assert len(places) == len(set(places))
