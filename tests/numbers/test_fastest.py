"""The least of either arm, and what makes their difference wrong."""

from __future__ import annotations

import numpy as np

from probe_effect.numbers.estimates import fastest


def test_it_is_the_least_traced_less_the_least_untraced_time() -> None:
    assert fastest(np.array([530.0, 520.0, 900.0]), np.array([310.0, 300.0])) == 220.0


def test_disturbance_that_spares_one_run_of_either_arm_leaves_it_unchanged() -> None:
    assert fastest(np.array([500.0, 9000.0, 700.0]), np.array([8000.0, 300.0])) == 200.0


def test_more_untraced_runs_than_traced_ones_make_it_too_large_on_average() -> None:
    random = np.random.default_rng(11)
    found = [fastest(200 + random.normal(300, 9, 10), random.normal(300, 9, 40)) for _ in range(400)]
    errors = np.array(found, dtype=np.float64) - 200
    assert errors.mean() > 3 * errors.std() / np.sqrt(len(errors))
