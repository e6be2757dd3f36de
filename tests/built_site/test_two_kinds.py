"""Where readers choose or read of machines, there is one of each kind of CPU that was measured, whichever is usual."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from html_page import Page
from probe_effect.numbers.names import cpu_family
from site_build import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.site

CHOSEN_ON = ("index.html", "explore/index.html", "compare/index.html")


def _kinds() -> dict[str, set[str]]:
    """CPU family to the machines of it whose times were measured."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in (PROJECT / "data" / "results").glob("*/*/machine.json"):
        values = json.loads(path.read_text(encoding="utf-8"))
        if values["run"].get("metric", "time") == "time":
            found[cpu_family(values["machine"]["cpu_model"])].add(values["machine"]["id"])
    return dict(found)


KINDS = _kinds()
each_kind = pytest.mark.parametrize("kind", sorted(KINDS))


def named(text: str, kind: str) -> set[str]:
    """The machines of the kind that a text names."""
    return {one for one in KINDS[kind] if one in text}


def test_there_are_several_kinds() -> None:
    assert len(KINDS) > 1


@each_kind
@pytest.mark.parametrize("page", CHOSEN_ON)
def test_a_machine_of_each_kind_can_be_chosen(site: Path, page: str, kind: str) -> None:
    values = re.findall(r'value="?([a-z0-9:-]+)', (site / page).read_text(encoding="utf-8"))
    assert named(" ".join(values), kind)


@each_kind
def test_what_is_advised_rests_on_costs_of_each_kind(site: Path, kind: str) -> None:
    (file,) = (site / "data").glob("advise.*.json")
    assert named(file.read_text(encoding="utf-8"), kind)


@each_kind
def test_every_machine_of_each_kind_has_its_page_and_its_costs(site: Path, kind: str) -> None:
    known = {one["id"] for one in json.loads((site / "data/machines.json").read_text(encoding="utf-8"))}
    assert KINDS[kind] <= known
    for machine in KINDS[kind]:
        assert f"/results/{machine}/" in (site / "machines" / machine / "index.html").read_text(encoding="utf-8")


def test_the_guide_has_ranges_over_the_machines_of_both_kinds(site: Path) -> None:
    chapters = [Page(path.read_text(encoding="utf-8")).text for path in (site / "guide").glob("*/index.html")]
    assert sum(bool(re.search(r" on \d+ (\w+ )?machines", text)) for text in chapters) >= 5
