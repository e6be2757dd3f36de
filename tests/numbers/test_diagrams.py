"""Diagrams: what they say stands in documents, and their costs are of one machine of the data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from helpers.builders import FOLDER, MACHINE, PROJECT, copy_suite, write_data
from probe_effect.answer.prediction import BANDS
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.charts.svg import diagram as drawing_of
from probe_effect.site.figures import diagrams
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from probe_effect.numbers.catalogue import Catalogue

CASE = "02-kprobe"
DOCUMENTS = PROJECT / "site" / "diagrams"


def parts_of(part: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 (as a document nests them)
    """A diagram and all its parts."""
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from parts_of(inner)


def costs_of(diagram: dict[str, Any]) -> list[dict[str, str]]:
    return [part["cost"] for part in parts_of(diagram) if part.get("cost")]


def test_the_guide_shows_every_diagram_there_is_and_no_other() -> None:
    chapters = (PROJECT / "content" / "guide").glob("*.md")
    named = {name for path in chapters for name in re.findall(r'{{< diagram "(.+?)" >}}', path.read_text("utf-8"))}
    assert named == {path.stem for path in DOCUMENTS.glob("*.toml")}
    assert len(named) == 5


def test_every_cost_that_a_diagram_asks_for_is_of_a_case_of_ours(catalogue: Catalogue) -> None:
    texts = [path.read_text(encoding="utf-8") for path in DOCUMENTS.glob("*.toml")]
    asked = {case for text in texts for case in re.findall(r'"[\w-]+\.(\d\d-[\w-]+)"', text)}
    assert asked
    assert asked <= {case.id for one in catalogue.suites for case in one.suite.cases}


def test_costs_of_one_diagram_are_of_one_machine_or_name_theirs(catalogue: Catalogue) -> None:
    machines = {one.machine for one in catalogue.everything}
    for name, diagram in diagrams(catalogue, DOCUMENTS):
        costs = costs_of(diagram)
        linked = [(found[1], cost) for cost in costs if (found := re.match("/results/([^/]+)/", cost["href"]))]
        assert costs
        assert {machine for machine, _ in linked} <= machines
        assert all(machine[-4:] in diagram["whose"] + cost["text"] for machine, cost in linked), name
        assert ("≈" in diagram["whose"]) == any("≈" in cost["text"] for cost in costs)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """One diagram: a cost that is known, one whose second choice is, one that is not, and the bands."""
    folder = tmp_path / "diagrams"
    folder.mkdir()
    rows = [
        f'{{ when = "{when}", cost = [{costs}] }}'
        for when, costs in (
            ("known", f'"bpftrace.{CASE}"'),
            ("second", f'"ftrace.{CASE}", "bpftrace.{CASE}"'),
            ("unknown", '"bpftrace.99-none"'),
        )
    ]
    text = f'title = "Made up"\n[[stages]]\n[[stages.groups]]\nrows = [{", ".join(rows)}]\n'
    (folder / "made-up.toml").write_text(f"{text}[[stages.groups]]\nhas_bands = true\nrows = []\n", encoding="utf-8")
    return folder


def test_the_first_cost_that_is_known_stands_with_its_number(tmp_path: Path, documents: Path) -> None:
    [(name, diagram)] = diagrams(read_catalogue(DataFolder(write_data(tmp_path))), documents)
    known, second, unknown = diagram["stages"][0]["groups"][0]["rows"]
    assert name == "made-up"
    assert second["cost"] == known["cost"] | {"text": f"{known['cost']['text']}, bpftrace"}
    assert known["cost"]["href"] == f"/results/{MACHINE}/{FOLDER}/{CASE}/bpftrace/#cost"
    assert unknown["cost"] is None
    assert diagram["whose"].startswith("Costs are those of ")


def test_without_data_a_diagram_is_the_same_but_for_its_costs(tmp_path: Path, documents: Path) -> None:
    copy_suite(tmp_path / "data")
    [(_, diagram)] = diagrams(read_catalogue(DataFolder(tmp_path / "data")), documents)
    assert [part["when"] for part in parts_of(diagram) if "cost" in part] == ["known", "second", "unknown"]
    assert costs_of(diagram) == []
    assert diagram["whose"] == ""


def test_the_bands_of_a_diagram_are_those_of_every_answer(catalogue: Catalogue, documents: Path) -> None:
    [(_, diagram)] = diagrams(catalogue, documents)
    rows = diagram["stages"][0]["groups"][1]["rows"]
    assert rows == [{"when": band.range, "what": band.recommendation} for band in BANDS]


def test_a_measured_cost_comes_before_an_estimated_one_and_names_its_tool(catalogue: Catalogue) -> None:
    decision = dict(diagrams(catalogue, DOCUMENTS))["decision"]
    row = next(part for part in parts_of(decision) if part.get("what") == "raw tracepoint")
    assert row["cost"]["text"].endswith(", libbpf")
    assert "≈" not in row["cost"]["text"]


def test_a_diagram_can_be_taken_away_as_a_picture_with_its_words_and_every_text_of_its_parts(
    catalogue: Catalogue,
) -> None:
    for name, document in diagrams(catalogue, DOCUMENTS):
        texts = "".join(ET.fromstring(drawing_of(document)).itertext()).replace(" ", "")  # noqa: S314 (drawn by us)
        for part in parts_of(document):
            said = [part.get(key) for key in ("when", "what", "text", "by", "code", "more")] + part.get("cells", [])
            assert all(one.replace(" ", "") in texts for one in said if one), name


def test_text_of_a_diagram_stays_text() -> None:
    hostile = "<script>&'\""
    steps = [{"side": 0, "text": hostile, "by": hostile}]
    drawn = drawing_of({"panels": [{"title": hostile, "sides": [hostile, ""], "steps": steps}]})
    assert hostile in "".join(ET.fromstring(drawn).itertext())  # noqa: S314 (drawn by us)
    assert "<script" not in drawn
