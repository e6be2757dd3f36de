"""How the figures of a question are read."""

from __future__ import annotations

import pytest

from probe_effect.answer.question import ProbeQuestion, asked_from, rate_from, share_from
from probe_effect.model import UsageError


@pytest.mark.parametrize(
    ("text", "rate_hz"),
    [
        ("50k", 50_000),
        ("1.5M", 1_500_000),
        ("200", 200),
        ("1e5", 100_000),
        ("50_000", 50_000),
        ("2G", 2e9),
        (" 20 k/s ", 20_000),
        ("0", 0),
    ],
)
def test_rates_are_read_as_people_write_them(text: str, rate_hz: float) -> None:
    assert rate_from(text) == rate_hz


@pytest.mark.parametrize("text", ["", "fast", "-5", "5m", "50,00", "1e", "1e400", "nan", "inf", "0x10", "٣", "5 0k"])
def test_any_other_rate_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageError, match="expected events per second, such as 50k"):
        rate_from(text)


@pytest.mark.parametrize("text", ["50.000", " 1.500 ", "999.999/s"])
def test_a_point_before_three_digits_is_asked_back(text: str) -> None:
    before = text.strip().partition(".")[0]
    with pytest.raises(
        UsageError, match=f"{before} or {before} thousand events per second. Write {before} or {before}k"
    ):
        rate_from(text)


@pytest.mark.parametrize(("text", "rate_hz"), [("0.125", 0.125), ("50.0", 50), ("1.500k", 1500), ("1,500.25", 1500.25)])
def test_a_point_that_is_clear_is_taken(text: str, rate_hz: float) -> None:
    assert rate_from(text) == rate_hz


@pytest.mark.parametrize(("text", "ratio"), [("40%", 0.4), ("0.4", 0.4), ("1", 1), ("100 %", 1)])
def test_shares_are_per_cent_or_ratios(text: str, ratio: float) -> None:
    assert share_from(text) == ratio


@pytest.mark.parametrize("text", ["40", "0", "0%", "101%", "-1", "half", ""])
def test_any_other_share_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageError, match=r"such as 40% or 0\.4"):
        share_from(text)


def test_a_case_may_have_a_rate_of_its_own() -> None:
    assert asked_from("06-uprobe@20k", 5.0) == ProbeQuestion("06-uprobe", 20_000)
    assert asked_from("06-uprobe", 5.0) == ProbeQuestion("06-uprobe", 5.0)


def test_a_case_without_any_rate_is_told_both_ways_to_give_one() -> None:
    with pytest.raises(UsageError, match="give --rate 50k, or the case's own: --case 06-uprobe@50k"):
        asked_from("06-uprobe", None)
