"""How quantities are written."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe_effect import units

if TYPE_CHECKING:
    from collections.abc import Callable

FINITE = st.floats(min_value=-1e15, max_value=1e15, allow_nan=False).filter(lambda value: abs(value) > 1e-9)


def plain(text: str) -> str:
    """`text` with ordinary blanks and minus, as a reader types it."""
    return text.replace("\u202f", " ").replace("\u00a0", " ").replace("\u2212", "-")


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        pytest.param(0, 3, "0", id="zero has no decimals"),
        pytest.param(1085.4, 3, "1 090", id="thousands are grouped"),
        pytest.param(0.05732, 3, "0.0573", id="small without exponent"),
        pytest.param(0.9996, 3, "1.00", id="rounding into a new digit drops a decimal"),
        pytest.param(999.6, 3, "1 000", id="rounding into thousands"),
        pytest.param(5, 3, "5.00", id="zeros that carry meaning stay"),
        pytest.param(-2.5, 2, "-2.5", id="negative"),
        pytest.param(1234567.0, 2, "1 200 000", id="two groups"),
    ],
)
def test_significant_digits_are_kept_and_grouped(value: float, digits: int, shown: str) -> None:
    assert plain(units.significant(value, digits)) == shown


@given(FINITE, st.integers(1, 6))
def test_a_written_number_reads_back_within_its_digits(value: float, digits: int) -> None:
    text = units.significant(value, digits)
    read = float(plain(text).replace(" ", ""))
    assert math.isclose(read, value, rel_tol=0.51 * 10 ** (1 - digits))


@given(FINITE)
def test_a_number_has_neither_exponent_nor_blank_that_breaks_a_line(value: float) -> None:
    assert re.fullmatch(r"\u2212?[0-9\u202f]+(\.[0-9]+)?", units.significant(value))


@given(FINITE)
def test_a_negative_number_is_its_positive_with_a_minus_sign(value: float) -> None:
    assert units.significant(-abs(value)) == "\u2212" + units.significant(abs(value))


@pytest.mark.parametrize(
    ("value", "shown"), [(5.0, "5"), (20.80, "20.8"), (100.0, "100"), (0, "0"), (1.2345678, "1.235")]
)
def test_trimmed_numbers_drop_zeros_that_say_nothing(value: float, shown: str) -> None:
    assert plain(units.trimmed(value)) == shown


@pytest.mark.parametrize(
    ("date", "shown"),
    [
        ("2023-05-19", "19 May 2023"),
        ("2023-05-01", "1 May 2023"),
        ("2023-12", "December 2023"),
        ("2023", "2023"),
        ("not stated", "not stated"),
    ],
)
def test_dates_read_as_prose(date: str, shown: str) -> None:
    assert plain(units.date_words(date)) == shown


@pytest.mark.parametrize(
    ("value_ns", "shown"),
    [
        (85.2, "85.2 ns"),
        (9990, "9 990 ns"),
        (10_900, "10.9 µs"),
        (1_090_000, "1.09 ms"),
        (44_300_000_000, "44.3 s"),
        (0, "0 ns"),
        (-85.2, "-85.2 ns"),
        (None, "—"),
    ],
)
def test_durations_choose_their_unit(value_ns: float | None, shown: str) -> None:
    assert plain(units.duration(value_ns)) == shown


def test_costs_stay_in_nanoseconds_whatever_their_size() -> None:
    assert plain(units.nanoseconds(13_300)) == "13 300 ns"


@pytest.mark.parametrize(("ratio", "shown"), [(0.05, "5.0 %"), (1, "100 %"), (0, "0 %"), (0.00123, "0.12 %")])
def test_ratios_read_as_per_cent(ratio: float, shown: str) -> None:
    assert plain(units.percent(ratio)) == shown


@pytest.mark.parametrize(
    ("value_hz", "shown"),
    [
        (740, "740 /s"),
        (17_000, "17 k/s"),
        (1_200_000, "1.2 M/s"),
        (2.5e9, "2.5 G/s"),
        (994, "990 /s"),
        pytest.param(996, "1.0 k/s", id="what would round to 1 000 takes the next unit"),
        pytest.param(996_000, "1.0 M/s", id="likewise a million"),
    ],
)
def test_rates_are_short(value_hz: float, shown: str) -> None:
    assert plain(units.rate(value_hz)) == shown


@pytest.mark.parametrize(("value", "shown"), [(0, "0"), (999, "999"), (1000, "1 000"), (6_000_000.0, "6 000 000")])
def test_counts_are_whole_and_grouped(value: float, shown: str) -> None:
    assert plain(units.count(value)) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(512, "512 B"), (1024, "1.00 KiB"), (23.4 * 2**20, "23.4 MiB"), (16 * 2**30, "16.0 GiB"), (2**41, "2 050 GiB")],
)
def test_bytes_read_in_binary_units(value: float, shown: str) -> None:
    assert plain(units.size(value)) == shown


@pytest.mark.parametrize(
    "write", [units.duration, units.nanoseconds, units.percent, units.rate, units.count, units.size]
)
def test_a_missing_value_is_a_dash_and_never_zero(write: Callable[[float | None], str]) -> None:
    assert write(None) == "—"


@pytest.mark.parametrize(
    ("value", "low", "high", "digits"),
    [
        pytest.param(591, 577, 604, 3, id="half-width in the tens: units are shown"),
        pytest.param(591, 590.9, 591.1, 4, id="never more than four"),
        pytest.param(591, 100, 1000, 2, id="half-width in the hundreds"),
        pytest.param(5, -100, 100, 2, id="never fewer than two"),
        pytest.param(0, -1, 1, 3, id="zero has no leading digit"),
        pytest.param(5, 5, 5, 3, id="no width says nothing"),
    ],
)
def test_an_interval_decides_how_many_digits_its_value_shows(
    value: float, low: float, high: float, digits: int
) -> None:
    assert units.digits_for(value, low, high) == digits
