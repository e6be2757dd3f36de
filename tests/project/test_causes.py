"""The shares of causes in the variance between starts, where the cause is known."""

from __future__ import annotations

import numpy as np
import pytest

from evidence.causes import CONDITIONS, shares

STARTS = 4000


def costs_of(layout_ns: float = 0.0, slow_ns: float = 0.0) -> dict[str, float]:
    """Shares where starts differ by 10 ns, by so much more with a layout of their own, and a part of them is slower."""
    random = np.random.default_rng(1)
    starts = random.normal(1000, 10, (STARTS, len(CONDITIONS)))
    starts[:, [0, 2, 3]] += random.normal(0, layout_ns, (STARTS, 3))
    starts[: STARTS // 4] += slow_ns
    places = np.argsort(random.random((STARTS, len(CONDITIONS))), axis=1)
    return shares(np.stack([starts, starts], axis=2), places)


def test_a_layout_that_makes_half_of_the_variance_has_half_of_it() -> None:
    assert costs_of(layout_ns=10)["layout of memory, ASLR"] == pytest.approx(0.5, abs=0.1)
    assert costs_of()["layout of memory, ASLR"] == pytest.approx(0, abs=0.1)


def test_a_slow_quarter_is_a_share_of_the_time_and_not_of_the_order() -> None:
    found = costs_of(slow_ns=100)
    assert found["time: quarters of the experiment"] > 0.9
    assert found["order in the block"] == pytest.approx(0, abs=0.02)


def test_attaches_to_one_process_that_agree_have_no_share() -> None:
    assert costs_of()["what two attaches to one process differ by"] == 0
