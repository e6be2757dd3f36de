"""Sums, differences and ratios of intervals, against closed forms and the intervals of whole numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe_effect.model import Estimate
from probe_effect.numbers.estimates import difference, product, ratio, total

NUMBERS = st.floats(-1000, 1000)
REACHES = st.floats(0.01, 500)
INTERVALS = st.builds(lambda value, down, up: Estimate(value, value - down, value + up), NUMBERS, REACHES, REACHES)
POSITIVE = st.builds(
    lambda low, down, up: Estimate(low + down, low, low + down + up), st.floats(1, 1000), REACHES, REACHES
)


def ends(interval: Estimate | None) -> tuple[float, float, float]:
    assert interval is not None
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.value, interval.high


def opposite(interval: Estimate) -> Estimate:
    low, value, high = ends(interval)
    return Estimate(-value, -high, -low)


def test_a_total_adds_values_and_ends() -> None:
    assert total([Estimate(10, 8, 13), Estimate(5, 4, 6), Estimate(-1, -2, 1)]) == Estimate(14, 10, 20)


def test_a_total_of_nothing_is_zero() -> None:
    assert total([]) == Estimate(0, 0, 0)


def test_one_unknown_interval_leaves_the_total_without_one() -> None:
    assert total([Estimate(10, 8, 13), Estimate(5)]) == Estimate(15)


def test_a_difference_has_the_errors_of_both_in_quadrature() -> None:
    assert difference(Estimate(10, 7, 14), Estimate(4, 1, 8)) == Estimate(6, 1, 11)


def test_a_difference_of_symmetric_intervals_is_the_usual_one() -> None:
    low, value, high = ends(difference(Estimate(10, 9, 11), Estimate(4, 2, 6)))
    assert (low, value, high) == pytest.approx((6 - math.sqrt(5), 6, 6 + math.sqrt(5)))


def test_each_side_of_a_difference_takes_the_errors_of_its_own_side() -> None:
    low, _, high = ends(difference(Estimate(10, 10, 12), Estimate(4, 4, 9)))
    assert (low, high) == (1, 8)


@pytest.mark.parametrize(("first", "second"), [(Estimate(3), Estimate(2, 1, 3)), (Estimate(3, 2, 4), Estimate(2))])
def test_without_both_intervals_a_difference_and_a_ratio_have_values_only(first: Estimate, second: Estimate) -> None:
    assert difference(first, second) == Estimate(1)
    assert ratio(first, second) == Estimate(1.5)


@given(INTERVALS, INTERVALS)
def test_the_opposite_difference_has_the_opposite_interval(first: Estimate, second: Estimate) -> None:
    assert ends(difference(second, first)) == pytest.approx(ends(opposite(difference(first, second))))


@given(INTERVALS, POSITIVE)
def test_a_ratio_lies_within_its_interval(first: Estimate, second: Estimate) -> None:
    low, value, high = ends(ratio(first, second))
    assert low <= value + 1e-9 * abs(value)
    assert value <= high + 1e-9 * abs(value)


@given(INTERVALS, POSITIVE)
def test_at_either_end_of_a_ratio_the_difference_from_the_scaled_divisor_just_reaches_zero(
    first: Estimate, second: Estimate
) -> None:
    low, _, high = ends(ratio(first, second))
    for end, side in ((low, 0), (high, 2)):
        scaled = [end * one for one in ends(second)]
        reached = ends(difference(first, Estimate(scaled[1], min(scaled), max(scaled))))[side]
        assert reached == pytest.approx(0, abs=1e-6 * (1 + abs(first.value) + abs(scaled[1])))


def test_a_ratio_to_a_known_number_divides_both_ends() -> None:
    assert ends(ratio(Estimate(10, 8, 14), Estimate(2, 2, 2))) == pytest.approx((4, 5, 7))


def test_a_known_number_over_an_interval_has_the_quotients_of_its_ends() -> None:
    assert ends(ratio(Estimate(12, 12, 12), Estimate(4, 3, 6))) == pytest.approx((2, 3, 4))


def test_a_ratio_of_normal_estimates_is_fiellers() -> None:
    a, b, a_reach, b_reach = 10.0, 5.0, 2.0, 1.0
    middle, square = a * b, b**2 - b_reach**2
    root = math.sqrt(middle**2 - square * (a**2 - a_reach**2))
    found = ratio(Estimate(a, a - a_reach, a + a_reach), Estimate(b, b - b_reach, b + b_reach))
    assert ends(found) == pytest.approx(((middle - root) / square, 2, (middle + root) / square))


@given(POSITIVE, POSITIVE)
def test_the_ratio_turned_round_has_the_inverse_interval(first: Estimate, second: Estimate) -> None:
    low, value, high = ends(ratio(first, second))
    assert ends(ratio(second, first)) == pytest.approx((1 / high, 1 / value, 1 / low), rel=1e-6)


@given(INTERVALS, POSITIVE)
def test_the_sign_of_both_changes_no_ratio_and_that_of_one_reverses_it(first: Estimate, second: Estimate) -> None:
    found = ratio(first, second)
    assert ends(ratio(opposite(first), opposite(second))) == pytest.approx(ends(found))
    assert found is not None
    assert ends(ratio(first, opposite(second))) == pytest.approx(ends(opposite(found)))


@pytest.mark.parametrize(
    "divisor", [Estimate(1, -1, 3), Estimate(1, 0, 3), Estimate(-1, -3, 0), Estimate(0, 0, 0), Estimate(0)]
)
def test_there_is_no_ratio_to_what_may_be_zero(divisor: Estimate) -> None:
    assert ratio(Estimate(5, 4, 6), divisor) is None


@pytest.mark.parametrize("size", [1e-266, 1e-150, 1e150])
def test_ratios_do_not_depend_on_how_large_the_numbers_are(size: float) -> None:
    """Hypothesis once found a divisor whose square is 0 as a float."""
    first, second = Estimate(3.0, 2.0, 4.0), Estimate(2.0, 1.5, 3.0)
    scaled = [Estimate(*(end * size for end in (one.value, *ends(one)[::2]))) for one in (first, second)]
    assert ends(ratio(*scaled)) == pytest.approx(ends(ratio(first, second)))
    assert ends(ratio(Estimate(0, 0, 0), Estimate(size, size, size))) == (0, 0, 0)


def test_a_product_has_the_relative_errors_of_both_in_quadrature() -> None:
    assert ends(product(Estimate(10, 9, 12), Estimate(100, 60, 110))) == pytest.approx(
        (1000 - 1000 * math.hypot(0.1, 0.4), 1000, 1000 + 1000 * math.hypot(0.2, 0.1))
    )


def test_a_product_with_a_known_number_multiplies_both_ends() -> None:
    assert ends(product(Estimate(10, 9, 12), Estimate(3, 3, 3))) == pytest.approx((27, 30, 36))
    assert product(Estimate(10, 9, 12), Estimate(3)) == Estimate(30)


@given(INTERVALS, POSITIVE)
def test_a_product_is_within_its_ends_and_these_within_the_products_of_ends(first: Estimate, second: Estimate) -> None:
    low, value, high = ends(product(first, second))
    corners = [one * other for one in ends(first)[::2] for other in ends(second)[::2]]
    assert min(corners) <= low <= value <= high <= max(corners)
    assert ends(opposite(product(first, second))) == pytest.approx(ends(product(opposite(first), second)))
