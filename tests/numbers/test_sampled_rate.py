"""The interval of a sampled rate contains the true one as often as it says."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.tiers import deep_but
from probe_effect.numbers.counted import Stratum, gamma_quantile, sampled_rate

TRIALS = 200
SEED = 20261123


def pace_hz(pattern: str, at_s: np.ndarray, mean_hz: float) -> np.ndarray:
    """Events per second at each moment of 2 s."""
    if pattern == "bursty":
        return np.where(at_s % 0.2 < 0.02, 10 * mean_hz, 0.0)
    if pattern == "phased":
        return np.where(at_s < 1.2, mean_hz / 3, 2 * mean_hz)
    return np.full_like(at_s, mean_hz)


def share_inside(pattern: str, mean_hz: float, window_s: float, strata: int) -> float:
    """How many of `TRIALS` intervals contain the true mean, each from one window at a random place in each stratum."""
    random = np.random.default_rng(SEED)
    length_s = 2.0 / strata
    moments_s = np.linspace(0, 2, 20_001)[:-1]
    true_hz = pace_hz(pattern, moments_s, mean_hz).mean()
    inside = 0
    for _ in range(TRIALS):
        starts_s = (np.arange(strata) + random.random(strata) * (1 - window_s / length_s)) * length_s
        moments_s = starts_s[:, None] + np.linspace(0, window_s, 8)
        events = random.poisson(pace_hz(pattern, moments_s, mean_hz).mean(axis=1) * window_s)
        found = sampled_rate([Stratum(length_s, window_s, int(one)) for one in events])
        inside += found.low_hz <= true_hz <= found.high_hz
    return inside / TRIALS


@pytest.mark.parametrize("strata", deep_but([30, 100], [30]))
@pytest.mark.parametrize("pattern", ["steady", "bursty", "phased"])
@pytest.mark.parametrize("mean_hz", deep_but([10.0, 1e3, 1e5, 1e6], [10.0, 1e6]))
def test_of_twenty_intervals_about_nineteen_contain_the_true_rate(pattern: str, mean_hz: float, strata: int) -> None:
    assert share_inside(pattern, mean_hz, window_s=0.0004, strata=strata) >= 0.92


def test_with_no_event_seen_the_upper_end_is_what_would_show_none_once_in_forty_times() -> None:
    found = sampled_rate([Stratum(0.1, 0.001, 0)] * 20)
    assert (found.hz, found.low_hz) == (0.0, 0.0)
    assert found.high_hz == pytest.approx(3.7 / 0.020, rel=0.02)


def test_what_was_counted_completely_has_no_sampling_error() -> None:
    found = sampled_rate([Stratum(0.1, 0.1, 7), Stratum(0.1, 0.1, 13)])
    assert (found.low_hz, found.hz, found.high_hz) == (100.0, 100.0, 100.0)


def test_the_busiest_tenth_is_of_the_time_and_one_stratum_has_none() -> None:
    strata = [Stratum(1.0, 1.0, 10)] * 19 + [Stratum(1.0, 1.0, 100)]
    assert sampled_rate(strata).busiest_hz == pytest.approx(55.0)
    assert sampled_rate(strata[:1]).busiest_hz is None


def test_an_unsure_cost_widens_the_interval_of_a_rate_that_counting_slowed() -> None:
    sure = sampled_rate([Stratum(0.1, 0.1, 1000, slowed=2.0)] * 2)
    unsure = sampled_rate([Stratum(0.1, 0.1, 1000, slowed=2.0)] * 2, unsure_ratio=0.1)
    assert sure.hz == unsure.hz == 20_000
    assert (unsure.low_hz, unsure.high_hz) == pytest.approx((18_000, 22_000))


def test_a_target_that_waited_for_a_cpu_has_a_wider_interval_except_where_all_was_counted() -> None:
    part, whole = [Stratum(0.1, 0.05, 5000)] * 2, [Stratum(0.1, 0.1, 10_000)] * 2
    waited = sampled_rate(part, waiting_ratio=0.4)
    assert (waited.low_hz, waited.high_hz) == pytest.approx((80_000, 120_000), rel=0.01)
    assert sampled_rate(whole, waiting_ratio=0.4) == sampled_rate(whole)


@pytest.mark.parametrize(("shape", "quantile"), [(1, 3.689), (4, 8.767), (20, 29.67), (1000, 1062.9)])
def test_the_gamma_quantile_is_that_of_tables(shape: float, quantile: float) -> None:
    assert gamma_quantile(shape, 0.975) == pytest.approx(quantile, rel=0.01)


def test_a_burst_that_was_counted_whole_is_exact_however_long_counting_made_it() -> None:
    """100,000 events in 10 ms, which counting made 100 ms, then 490 ms without any."""
    found = sampled_rate([Stratum(0.1, 0.1, 100_000, slowed=10.0), Stratum(0.49, 0.49, 0)])
    assert (found.low_hz, found.hz, found.high_hz) == pytest.approx((200_000, 200_000, 200_000))


def test_two_windows_in_a_long_time_say_little_and_many_say_more() -> None:
    few, many = (sampled_rate([Stratum(0.5, 0.001, events) for events in [900, 1100] * half]) for half in (1, 20))
    assert few.hz == many.hz
    assert few.high_hz - few.hz > 10 * (many.high_hz - many.hz)
