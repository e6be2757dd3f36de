"""Which values are far out, and that nothing else is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe_effect.numbers.estimates import outliers

VALUES = st.lists(st.integers(-1000, 1000).map(float), min_size=1, max_size=30)


def array(values: list[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(values, dtype=np.float64)


def test_values_beyond_three_interquartile_ranges_are_named_by_their_places() -> None:
    values = [float(value) for value in range(1, 10)]  # quartiles 3 and 7, fences -9 and 19
    assert outliers(array([*values, 5.0])) == ()
    assert outliers(array([100.0, *values, -100.0])) == (0, 10)


def test_a_value_on_the_fence_is_not_far_out() -> None:
    values = array([0.0, 1.0, 2.0, 3.0, 4.0])  # quartiles 1 and 3
    assert outliers(np.append(values[:4], 9.0)) == ()
    assert outliers(np.append(values[:4], 9.1)) == (4,)


def test_ordinary_noise_has_almost_none() -> None:
    assert outliers(np.random.default_rng(3).standard_normal(10_000)) == ()


def test_among_equal_values_any_other_is_far_out() -> None:
    assert outliers(array([2.0, 2.0, 2.0, 2.0, 2.5])) == (4,)


@pytest.mark.parametrize("count", range(1, 5))
def test_of_fewer_than_five_values_none_is_far_out(count: int) -> None:
    assert outliers(array([1.0, 1.0, 1.0, 1e9][-count:])) == ()


@given(VALUES, st.sampled_from([0.25, -2.0]), st.integers(-100, 100))
def test_another_unit_and_zero_name_the_same_values(values: list[float], factor: float, shift: int) -> None:
    assert outliers(array(values) * factor + shift) == outliers(array(values))
