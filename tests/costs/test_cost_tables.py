"""Tables that hand-written pages ask for by name."""

from pathlib import Path

import pytest

from helpers.builders import FIGURES as BUILT
from helpers.builders import PROJECT
from probe_effect.model import ProbeEffectError
from probe_effect.numbers.catalogue import Catalogue, read_catalogue
from probe_effect.site.costs import NamedTables, quoted
from probe_effect.site.facts import facts
from probe_effect.store.places import DataFolder

ENTRY = '[one]\ncases = ["02-kprobe"]\ntracers = ["bpftrace", "nobody"]\nquantities = ["cost", "threshold-5"]\n'
FIGURES = '[two]\nsource = "a-talk"\nfigures = ["plain", "cost"]\n'


def made(data: Path, text: str) -> tuple[dict[str, str], NamedTables]:
    catalogue = read_catalogue(DataFolder(data))
    path = data / "tables.toml"
    path.write_text(text, encoding="utf-8")
    tables = NamedTables(catalogue, facts(catalogue))
    return dict(tables.write(path)), tables


def test_a_table_has_a_row_for_each_pair_with_a_number_and_names_its_machine(data: Path) -> None:
    found, tables = made(data, ENTRY)
    text = found["tables/one.md"]
    assert text.count('{{< number "table/one/0/') == 1
    assert tables.facts["table/one/0/0"]["key"] == "bpftrace.02-kprobe.cost"
    assert "Measured on" in text
    assert "](/costs/02-kprobe/) |" in text
    assert "bpftrace 0.23" in text
    assert tables.facts["table/one/machine"]["text"] == tables.facts["table/one/0/0"]["machine"]


def test_figures_of_a_source_are_quoted_as_printed(data: Path) -> None:
    found, tables = made(data, FIGURES)
    assert "Published by" in found["tables/two.md"]
    what = {figure["figure"]: figure["what"] for figure in BUILT}
    assert all(str(what[name]) in found["tables/two.md"] for name in ("plain", "cost"))
    assert [tables.facts[f"table/two/{at}"]["kind"] for at in range(2)] == ["published", "derived"]


@pytest.mark.parametrize(
    "text",
    ['[x]\ncases = ["99-none"]\ntracers = ["bpftrace"]\n', '[x]\nsource = "nobody"\nfigures = ["plain"]\n'],
)
def test_a_table_of_which_the_data_have_nothing_is_left_out(data: Path, text: str) -> None:
    assert made(data, text)[0] == {}


def test_a_quantity_that_is_none_is_named_beside_those_that_there_are(data: Path) -> None:
    with pytest.raises(ProbeEffectError, match="weight is no quantity; there are cost, "):
        made(data, ENTRY.replace('"cost"', '"weight"'))


def test_every_table_of_the_site_is_made_and_asked_for(catalogue: Catalogue) -> None:
    _, fragments = quoted(catalogue, PROJECT)
    texts = "".join(path.read_text(encoding="utf-8") for path in (PROJECT / "content").rglob("*.md"))
    assert [name for name in fragments if f'"{name}"' not in texts] == []
    named = (PROJECT / "site" / "tables.toml").read_text(encoding="utf-8").count("\n[")
    assert len(fragments) == named
