"""Citations: what they say, and that nothing in the data can break them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.builders import (
    COUNTED_FOLDER,
    COUNTED_MACHINE,
    FOLDER,
    MACHINE,
    block_rows,
    machine_values,
    many_blocks,
    write_counted_submission,
    write_data,
    write_source,
    write_submission,
)
from probe_effect.numbers.catalogue import Catalogue, read_catalogue
from probe_effect.numbers.names import Edition, Subject, cite, entry, escaped
from probe_effect.site.pages import citing
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

SITE = "https://example.org/probe-effect/"
NUMBER = f"{MACHINE}/{FOLDER}/02-kprobe/bpftrace"
FIELD = re.compile(r"^  (\w+) += (?:\{(.*)\}|(\w+)),$", re.MULTILINE)


@pytest.fixture
def small(tmp_path: Path) -> Catalogue:
    data = write_data(tmp_path)
    write_counted_submission(data)
    return read_catalogue(DataFolder(data), SITE)


def fields(bibtex: str) -> dict[str, str]:
    """The fields of the last entry."""
    last = bibtex.rpartition("@misc")[2]
    return {name: braced or bare for name, braced, bare in FIELD.findall(last)}


def balanced(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth < 0:
            return False
    return depth == 0


def test_a_number_says_what_it_is_where_when_and_how_sure(small: Catalogue) -> None:
    found = citing.citable(small)[NUMBER]()
    assert "50.0 ns" in found.text
    assert "bpftrace 0.23, Example, machine" in found.text
    assert "bpftrace 0.23" in found.text
    assert "measured on 20 November 2026" in found.text
    assert f"data version {small.version}" in found.text
    assert found.text.endswith(f" https://example.org/probe-effect/results/{NUMBER}/")


def test_its_bibtex_has_the_same(small: Catalogue) -> None:
    found = citing.citable(small)[NUMBER]().bibtex
    assert found.startswith("@misc{probe-effect-test-machine-2026-11-20-per-event-02-kprobe-bpftrace,\n")
    written = fields(found)
    assert written["url"] == f"{SITE}results/{NUMBER}/"
    assert (written["year"], written["month"]) == ("2026", "nov")
    assert written["version"] == small.version
    assert "50.0 ns" in written["note"]


def test_an_interval_is_told_with_the_number(tmp_path: Path) -> None:
    rows = [row for block in range(8) for row in block_rows(block, 500 + 7 * block)]
    write_submission(tmp_path, rows)
    found = citing.citable(read_catalogue(DataFolder(tmp_path)))[NUMBER]()
    assert re.search(r"\d ns \(\d+(\.\d+)? to \d+(\.\d+)?\), with the 95 % interval", found.text)


def test_instructions_are_called_instructions(small: Catalogue) -> None:
    found = citing.citable(small)[f"{COUNTED_MACHINE}/{COUNTED_FOLDER}/02-kprobe/bpftrace"]()
    assert "640" in found.text
    assert "instructions" in found.text
    assert " ns" not in found.text
    assert f"/kernels/{COUNTED_MACHINE}/" in citing.citable(small)[COUNTED_MACHINE]().text


def test_a_number_that_is_none_says_so(small: Catalogue) -> None:
    found = citing.citable(small)[f"{MACHINE}/{FOLDER}/06-uprobe/bpftrace"]()
    assert "skipped" in found.text


def test_a_source_is_cited_before_us(small: Catalogue) -> None:
    found = citing.citable(small)["a-talk"]()
    assert found.text.startswith("A. Author: “A talk about tracing”, 19 May 2023, a conference.")
    first, second = found.bibtex.split("\n\n")
    assert fields(first) == {
        "author": "{A. Author}",
        "title": "{A talk about tracing}",
        "year": "2023",
        "month": "may",
        "howpublished": "a conference",
    }
    assert fields(second)["url"] == f"{SITE}sources/a-talk/"


def test_a_figure_has_its_value_and_its_row(small: Catalogue) -> None:
    printed, derived = (citing.citable(small)[f"a-talk#{name}"]() for name in ("printed_cost", "cost"))
    assert "2.5 us" in printed.text
    assert printed.text.endswith("/sources/a-talk/#printed_cost")
    assert "1 000 ns, derived" in derived.text


def test_what_a_source_does_not_state_is_left_out(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    write_source(data, name="unsigned", author="not stated", date="not stated", where="not stated")
    found = citing.citable(read_catalogue(DataFolder(data)))["unsigned"]()
    assert "not stated" not in found.text + found.bibtex
    assert found.text.startswith("“A talk about tracing”. ")


def test_an_excerpt_is_told(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    write_source(data, name="seen", read="excerpt", grade="X")
    assert "only from an excerpt" in citing.citable(read_catalogue(DataFolder(data)))["seen"]().text


def test_who_measured_is_named_as_they_wish(tmp_path: Path) -> None:
    values = machine_values()
    values["submitter"]["name"] = "R. & D. {Lab}"
    write_submission(tmp_path, many_blocks(), values)
    found = citing.citable(read_catalogue(DataFolder(tmp_path)))[NUMBER]()
    assert "by R. & D. {Lab}" in found.text
    assert r"by R. \& D. {\textbraceleft}Lab{\textbraceright}" in found.bibtex


def test_without_an_address_there_is_the_path() -> None:
    found = cite(Subject("x", "T", "/costs/x/"), Edition("2026-11-20.00000000"))
    assert found.text.endswith(" /costs/x/")
    assert fields(found.bibtex)["url"] == "/costs/x/"


@given(st.text())
def test_no_text_breaks_out_of_its_field(text: str) -> None:
    found = entry("key", {"title": text, "note": text, "url": f"/x/{text}"})
    assert balanced(found)
    assert len(found.splitlines()) <= 5
    assert found.endswith("\n}")


@given(st.text(alphabet="&%#_${}~^\\ab"))
def test_tex_reads_every_sign_as_itself(text: str) -> None:
    bare = re.sub(r"\\[&%#_$]|\{\\text\w+\}", "", escaped(text))
    assert not set(bare) & set("&%#_${}~^\\")


def test_every_id_of_the_real_data_is_of_one_thing_and_can_be_cited(catalogue: Catalogue) -> None:
    things = citing.citable(catalogue)
    every = [folder.suite.id for folder in catalogue.suites] + [case.id for case in catalogue.cases()]
    every += [one.id for one in catalogue.sources]
    every += sorted({one.document.machine.id for one in catalogue.everything})
    assert len(every) == len(set(every))
    made = [make() for make in things.values()]
    assert all(balanced(one.bibtex) and "\n" not in one.text for one in made)
    keys = [re.findall(r"@misc\{([^,]+),", one.bibtex)[-1] for one in made]
    assert len(keys) == len(set(keys))
