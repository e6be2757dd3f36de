"""How quantities are written."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe_effect import units
from probe_effect.model import Estimate

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


@pytest.mark.parametrize("write", [units.duration, units.percent, units.rate, units.count, units.size])
def test_a_missing_value_is_a_dash_and_never_zero(write: Callable[[float | None], str]) -> None:
    assert write(None) == "—"


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        pytest.param(Estimate(171.2, 164.9, 176.0), "171 ns (165 to 176)", id="half-width of 5: ones are shown"),
        pytest.param(Estimate(262.4, 238.2, 281.3), "262 ns (238 to 281)", id="half-width of 21: two digits of it"),
        pytest.param(Estimate(400, 250, 2600), "400 ns (300 to 2 600)", id="half-width of 1175: hundreds"),
        pytest.param(Estimate(3.04, 2.94, 3.14), "3.04 ns (2.94 to 3.14)", id="half-width of 0.1: hundredths"),
        pytest.param(Estimate(12_270, 11_770, 12_690), "12.3 µs (11.8 to 12.7)", id="one unit for value and ends"),
        pytest.param(
            Estimate(9_990, 9_000, 11_500), "10 000 ns (9 000 to 11 500)", id="the unit of the value, not of an end"
        ),
        pytest.param(Estimate(-6, -22, 29), "-6 ns (-22 to 29)", id="negative"),
        pytest.param(Estimate(0.3, -22, 23), "0 ns (-22 to 23)", id="a value that its interval does not support"),
        pytest.param(Estimate(123.456789, 123.456788, 123.45679), "123.46 ns (123.46 to 123.46)", id="five digits"),
        pytest.param(Estimate(50, 50, 50), "50.0 ns", id="no width says nothing of digits"),
        pytest.param(Estimate(50), "50.0 ns", id="no interval"),
        pytest.param(None, "—", id="no value"),
    ],
)
def test_an_interval_decides_how_many_digits_its_value_shows(found: Estimate | None, shown: str) -> None:
    assert plain(units.interval(found, units.DURATION)) == shown


def test_an_end_that_is_not_known_is_left_open() -> None:
    assert plain(units.interval(Estimate(190e3, 150e3), units.RATE)) == "190 k/s (150 or more)"
    assert plain(units.interval(Estimate(190e3, None, 230e3), units.RATE)) == "190 k/s (230 or less)"


@given(st.floats(1e-6, 1e9), st.floats(0.001, 0.9), st.floats(0.001, 0.9))
def test_value_and_ends_read_back_within_a_fifth_of_the_half_width(value: float, below: float, above: float) -> None:
    found = Estimate(value, value * (1 - below), value * (1 + above))
    text = plain(units.interval(found, units.Scale((units.Unit(math.inf, 1, "x"),), 3)))
    shown = [float(part.replace(" ", "")) for part in re.fullmatch(r"(.*) x \((.*) to (.*)\)", text).groups()]  # type: ignore[union-attr]
    half_width = value * (below + above) / 2
    for read, true in zip(shown, (found.value, found.low, found.high), strict=True):
        assert true is not None
        assert abs(read - true) <= max(0.15 * half_width, 0.51e-4 * value)


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        pytest.param(
            Estimate(1924.2, 1920.9, 1929.8), "1 924 (1 921 to 1 930)", id="half a range of 4: ones are shown"
        ),
        pytest.param(Estimate(1523.41, 1523.2, 1523.6), "1 523.4 (1 523.2 to 1 523.6)", id="tenths where they differ"),
        pytest.param(Estimate(1523.41, 1523.405, 1523.412), "1 523", id="a range that does not show is left out"),
        pytest.param(Estimate(43_210, 43_210, 43_210), "43 210", id="no range at all"),
        pytest.param(Estimate(400, 250, 2600), "400 (250 to 2 600)", id="three digits, however wide the range"),
        pytest.param(Estimate(-0.3, -2.04, 3.06), "-0.30 (-2.04 to 3.06)", id="around zero, to the digits of its ends"),
        pytest.param(Estimate(0, -12, 5), "0.0 (-12.0 to 5.0)", id="a median of zero"),
        pytest.param(Estimate(0, 0, 0), "0", id="nothing but zeros"),
        pytest.param(Estimate(123_456.7, 123_441, 123_463), "123 460 (123 440 to 123 460)", id="five digits at most"),
        pytest.param(None, "—", id="no value"),
    ],
)
def test_the_range_of_repeated_counts_decides_how_many_digits_are_shown(found: Estimate | None, shown: str) -> None:
    assert plain(units.spread(found, units.INSTRUCTIONS)) == shown


def test_a_spread_has_the_unit_of_its_median_where_there_is_one() -> None:
    assert plain(units.spread(Estimate(12_340, 12_000, 12_690), units.DURATION)) == "12.34 µs (12.00 to 12.69)"


def test_a_number_without_a_unit_ends_in_its_digits() -> None:
    assert plain(units.quantity(1924.2, units.INSTRUCTIONS)) == "1 924"
    assert plain(units.interval(Estimate(1924.2, 1920.9, 1929.8), units.INSTRUCTIONS)) == "1 924 (1 921 to 1 930)"
    assert plain(units.stated(1500, units.INSTRUCTIONS)) == "1 500"


@given(st.floats(1e-3, 1e9), st.floats(1e-3, 0.9), st.floats(1e-3, 0.9))
def test_median_and_range_read_back_within_a_hundredth_of_the_greatest(
    median: float, below: float, above: float
) -> None:
    runs = (median, median * (1 - below), median * (1 + above))
    text = plain(units.spread(Estimate(*runs), units.INSTRUCTIONS))
    shown = [float(part.replace(" ", "")) for part in re.findall(r"[0-9 ]+(?:\.[0-9]+)?(?= to|\)| \()", text)]
    for read, true in zip(shown, runs, strict=True):
        assert abs(read - true) <= 0.00501 * runs[2]


@pytest.mark.parametrize(
    ("value", "place", "shown"),
    [(1234.5, 0, "1 235"), (1234.5, 2, "1 200"), (0.05, -1, "0.1"), (0.04, -1, "0.0"), (-0.04, -1, "0.0"), (7, 3, "0")],
)
def test_halves_are_rounded_away_from_zero_and_zero_has_no_sign(value: float, place: int, shown: str) -> None:
    assert plain(units.at_place(value, place)) == shown


@pytest.mark.parametrize("power", range(-12, 16))
def test_powers_of_ten_have_their_own_exponent(power: int) -> None:
    assert units.exponent(float(f"1e{power}")) == power
    assert units.exponent(math.nextafter(float(f"1e{power}"), 0)) == power - 1
