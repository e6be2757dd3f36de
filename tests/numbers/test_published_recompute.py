"""Published figures, recomputed, and how pages say of an excerpt that it is one; `check` recomputes all of ours."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from helpers.builders import FIGURES, figures_csv
from probe_effect.numbers.published import (
    FormulaError,
    compare,
    figure_text,
    figure_values,
    fill,
    recompute,
    stands,
    with_unit,
)
from probe_effect.site.pages import fragments, source_page
from probe_effect.store.beside_files import Figure, Finding, read_figures

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import AgreementVerdict
    from probe_effect.numbers.catalogue import Catalogue


@pytest.fixture
def figures(tmp_path: Path) -> dict[str, Figure]:
    (tmp_path / "figures.csv").write_text(figures_csv(FIGURES), encoding="utf-8")
    read, problems = read_figures(tmp_path / "figures.csv", "figures.csv")
    assert problems == []
    return {figure.figure: figure for figure in read}


def plain(text: str) -> str:
    return text.replace("\u202f", " ").replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("printed", "value", "verdict"),
    [
        pytest.param("21", Fraction(21), "agrees", id="equal"),
        pytest.param("21", Fraction(43, 2), "agrees", id="half of the last digit"),
        pytest.param("21.0", Fraction(43, 2), "differs", id="printed to a tenth"),
        pytest.param("0.598", Fraction(5984, 10000), "agrees", id="rounds to what is printed"),
        pytest.param("442", Fraction(4426, 10), "close", id="cut, not rounded"),
        pytest.param("100", Fraction(102), "close", id="within two per cent"),
        pytest.param("100", Fraction(103), "differs", id="three per cent off"),
        pytest.param("3", Fraction(5), "close", id="two of the last digit"),
        pytest.param("3", Fraction(51, 10), "differs", id="more than two of the last digit"),
        pytest.param("-5", Fraction(-5), "agrees", id="negative"),
        pytest.param("5", Fraction(-5), "differs", id="wrong sign"),
        pytest.param("0", Fraction(0), "agrees", id="zero"),
    ],
)
def test_a_recomputation_agrees_to_the_digits_printed(printed: str, value: Fraction, verdict: AgreementVerdict) -> None:
    assert compare(Decimal(printed), value) == verdict


def test_values_are_compared_in_base_units(figures: dict[str, Figure]) -> None:
    values = figure_values(list(figures.values()))
    assert values["plain"] == 2 * 10**9
    assert values["printed_cost"] == 2500


def test_a_formula_gives_its_value_in_the_figures_own_unit(figures: dict[str, Figure]) -> None:
    values = figure_values(list(figures.values()))
    found = recompute(figures["printed_cost"], values)
    assert found is not None
    assert found.value == 1
    assert found.verdict == "differs"
    derived = recompute(figures["cost"], values)
    assert derived is not None
    assert derived.value == 1000
    assert derived.verdict == "agrees"


def test_a_figure_without_a_formula_is_not_recomputed(figures: dict[str, Figure]) -> None:
    assert recompute(figures["plain"], {}) is None


def test_a_finding_stands_until_the_source_agrees_with_itself(figures: dict[str, Figure]) -> None:
    values = figure_values(list(figures.values()))
    finding = Finding(id="f", sentence="s", agrees_if="abs(printed_cost - cost) <= 10")
    assert stands(finding, values)
    assert not stands(finding, values | {"printed_cost": Fraction(1010)})


def test_a_finding_without_a_condition_stands() -> None:
    assert stands(Finding(id="f", sentence="s"), {})


def test_placeholders_become_figures_as_printed_or_with_our_unit(figures: dict[str, Figure]) -> None:
    sentence = fill("{printed_cost} against {cost}, over {calls} calls.", figures)
    assert plain(sentence) == "2.5 us against 1 000 ns‡, over 1 000 000 calls."


def test_an_unknown_placeholder_is_named(figures: dict[str, Figure]) -> None:
    with pytest.raises(FormulaError, match=r"`\{speed\}`"):
        fill("At {speed}.", figures)


@pytest.mark.parametrize("text", ["{}", "{ plain }", "{Plain}", "{{< x >}}", "{0}", "{plain.value}", "{plain!r}"])
def test_other_braces_are_left_alone(figures: dict[str, Figure], text: str) -> None:
    assert fill(text, figures) == text


def test_a_figure_is_not_read_for_placeholders_itself(figures: dict[str, Figure]) -> None:
    hostile = replace(figures["plain"], printed="{cost}")
    assert fill("{plain}", figures | {"plain": hostile}) == "{cost}"


def test_a_short_figure_does_not_break_over_a_line(figures: dict[str, Figure]) -> None:
    assert figure_text(figures["plain"]) == "2\u00a0s"


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (262.0, "ns", "262 ns"),
        (21.0, "percent", "21 %"),
        (6_000_000.0, "count", "6 000 000"),
        (2.5, "count", "2.5"),
        (3.2, "us", "3.2 µs"),
        (442.0, "ratio", "442 times"),
        (1000.0, "hz", "1 000 events/s"),
    ],
)
def test_values_carry_their_unit(value: float, unit: str, shown: str) -> None:
    assert plain(with_unit(value, unit)) == shown


def test_a_source_known_from_an_excerpt_says_so_on_its_page(catalogue: Catalogue) -> None:
    excerpts = {one.id for one in catalogue.sources if one.document.read == "excerpt"}
    pages = {one.id: source_page.write(one, catalogue) for one in catalogue.sources}
    assert {id_ for id_, page in pages.items() if "Known only from an excerpt" in page} == excerpts
    assert 0 < len(excerpts) < len(pages)


def test_tables_that_quote_an_excerpt_say_so(catalogue: Catalogue) -> None:
    table = fragments.write_all(catalogue)["published-costs.md"]
    excerpts = {one.id for one in catalogue.sources if one.document.read == "excerpt"}
    quoted = [
        line for line in table.splitlines() if (found := re.search(r"/sources/([^/]+)/", line)) and found[1] in excerpts
    ]
    assert quoted
    assert all("excerpt only" in line for line in quoted)
