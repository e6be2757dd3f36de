"""Where readers choose or read of machines, there is one of each kind of CPU that was measured, whichever is usual."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from helpers.html_page import Page
from probe_effect.numbers.names import cpu_family

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.numbers.catalogue import Catalogue

pytestmark = pytest.mark.site

CHOSEN_ON = ("index.html", "explore/index.html", "compare/index.html")


@pytest.fixture(scope="module")
def kinds(catalogue: Catalogue) -> dict[str, set[str]]:
    """CPU family to the machines of it whose times were measured."""
    found: dict[str, set[str]] = defaultdict(set)
    for one in catalogue.timed:
        found[cpu_family(one.document.machine.cpu_model or "")].add(one.machine)
    assert len(found) > 1
    return dict(found)


def unnamed(text: str, kinds: dict[str, set[str]]) -> list[str]:
    """The kinds of which a text names no machine."""
    return [kind for kind, machines in kinds.items() if not any(one in text for one in machines)]


@pytest.mark.parametrize("page", CHOSEN_ON)
def test_a_machine_of_each_kind_can_be_chosen(site: Path, kinds: dict[str, set[str]], page: str) -> None:
    values = re.findall(r'value="?([a-z0-9:-]+)', (site / page).read_text(encoding="utf-8"))
    assert unnamed(" ".join(values), kinds) == []


def test_what_is_advised_rests_on_costs_of_each_kind(site: Path, kinds: dict[str, set[str]]) -> None:
    (file,) = (site / "data").glob("advise.*.json")
    assert unnamed(file.read_text(encoding="utf-8"), kinds) == []


def test_every_machine_of_each_kind_has_its_page_and_its_costs(site: Path, kinds: dict[str, set[str]]) -> None:
    known = {one["id"] for one in json.loads((site / "data/machines.json").read_text(encoding="utf-8"))}
    for machine in set().union(*kinds.values()):
        assert machine in known
        assert f"/results/{machine}/" in (site / "machines" / machine / "index.html").read_text(encoding="utf-8")


def test_the_guide_has_ranges_over_the_machines_of_both_kinds(site: Path) -> None:
    chapters = [Page(path.read_text(encoding="utf-8")).text for path in (site / "guide").glob("*/index.html")]
    assert sum(bool(re.search(r" on \d+ (\w+ )?machines", text)) for text in chapters) >= 5
