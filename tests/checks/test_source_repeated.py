"""What of a source is done again here: stated as data, shown on its page, and never left without a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers.builders import REAL_DATA, write_data, write_source
from helpers.written_pages import split, with_fragments
from probe_effect.checks.run import check
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.store.beside_files import read_source
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.store.beside_files import SourceFile

ENTRY = '\n[[repeated]]\nwhat = "A loop, twice"\n'


def write_with(data: Path, keys: str) -> Path:
    """The `source.toml` of a source `again` with one more entry."""
    path = write_source(data, name="again") / "source.toml"
    with path.open("a", encoding="utf-8") as file:
        file.write(ENTRY + keys)
    return path


def page(data: Path) -> str:
    return split(with_fragments(read_catalogue(DataFolder(data)))["sources/again.md"])[1]


def known_sources() -> dict[str, SourceFile]:
    found = {
        folder.name: read_source(folder / "source.toml", folder.name) for folder in DataFolder(REAL_DATA).sources()
    }
    return {name: document for name, (document, _) in found.items() if document is not None}


def test_the_page_leads_to_the_suites_that_do_it_again(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    write_with(data, 'suites = ["per-event", "unheard-of"]\nnote = "With calls: {calls}."\n')
    expected = "| A loop, twice | [What one event costs](/suites/per-event/), unheard-of | With calls"
    assert expected in page(data).replace("&#45;", "-")
    assert "1 000 000" in page(data).replace("\u00a0", " ")


def test_the_page_says_what_is_not_done_and_why(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    write_with(data, 'note = "Nobody has the machine."\n')
    assert "| A loop, twice | not done | Nobody has the machine. |" in page(data)


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "x | y", "{{< chart >}}", "[a](javascript:b)"])
def test_hostile_text_there_comes_out_as_text(tmp_path: Path, hostile: str) -> None:
    data = write_data(tmp_path)
    path = write_with(data, f'note = "{hostile}"\n')
    path.write_text(path.read_text(encoding="utf-8").replace("A loop, twice", f"{hostile} twice"), encoding="utf-8")
    assert hostile not in page(data)


def test_what_is_not_done_must_say_why(tmp_path: Path) -> None:
    document, problems = read_source(write_with(tmp_path, ""), "source.toml")
    assert document is None
    assert "a note that says why none does" in problems[0].message


def test_a_note_that_names_no_figure_is_told(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    path = write_with(data, 'note = "It took {nothing}."\n')
    assert any("`{nothing}` is not a figure" in one.message for one in check([path.parent], DataFolder(data)))


def test_every_source_that_was_read_in_full_says_what_of_it_is_done_again() -> None:
    in_full = {name: document for name, document in known_sources().items() if document.read == "full"}
    assert in_full
    assert [name for name, document in in_full.items() if not document.repeated] == []


def test_the_suites_that_do_it_again_are_there() -> None:
    named = {suite for document in known_sources().values() for one in document.repeated for suite in one.suites}
    assert named <= {folder.name for folder in DataFolder(REAL_DATA).suites()}
