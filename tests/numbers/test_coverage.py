"""The simulator's short form: what it promises, that it computes what the package does, and that its seed decides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy

from evidence.coverage import SEED, SHORT, Outcome, document, outcomes, shares
from evidence.coverage_estimators import IN_BLOCKS, OF_ARMS, OURS, against_mean, means, minima, paired
from evidence.coverage_noise import CASES, COST_NS, MODELS, RUNS_PER_BLOCK, Runs, interleaved, layouts, sequential
from evidence.coverage_tables import combined_tables, model_table
from probe_effect.model import Estimate
from probe_effect.numbers.estimates import estimate, fastest, paired_estimate

if TYPE_CHECKING:
    from evidence.coverage_combined import Share
    from evidence.coverage_estimators import Estimates

TARGET = 0.93
PROMISED = [name for name, model in MODELS.items() if model.is_promised]
DRIFTING = [name for name, model in MODELS.items() if model.drifts_in_blocks]
TINY = replace(SHORT, repetitions=100, checked=40, layouts=50)


@pytest.fixture(scope="module")
def found() -> list[Outcome]:
    return list(outcomes(SHORT, SEED))


@pytest.fixture(scope="module")
def also() -> list[Share]:
    return list(shares(SHORT, SEED))


def of(found: list[Outcome], model: str) -> list[Outcome]:
    return [one for one in found if one.model == model]


def coverage(outcome: Outcome, estimator: str) -> float:
    ratio = outcome.figures[estimator].coverage_ratio
    assert ratio is not None
    return ratio


def runs(blocks: int = 9, repetitions: int = 5) -> Runs:
    random = np.random.default_rng(3)
    noise = MODELS["lognormal"].draw(random, (repetitions, blocks, RUNS_PER_BLOCK))
    return interleaved(noise, layouts(blocks, repetitions, seed=1), 1.0)


def row(found: Estimates, number: int) -> Estimate:
    return Estimate(float(found.value[number]), float(found.low[number]), float(found.high[number]))


@pytest.mark.parametrize("model", PROMISED)
def test_the_interval_covers_what_it_promises(found: list[Outcome], model: str) -> None:
    assert [one for one in of(found, model) if coverage(one, OURS) < TARGET] == []


@pytest.mark.parametrize("model", DRIFTING)
def test_where_strong_drift_inside_blocks_takes_the_coverage_a_warning_is_given(
    found: list[Outcome], model: str
) -> None:
    silent = [one for one in of(found, model) if coverage(one, OURS) < TARGET and one.within_blocks_ratio < 0.9]
    assert silent == []
    assert max(one.within_blocks_ratio for one in of(found, model)) >= 0.9


@pytest.mark.parametrize("model", ["normal", "lognormal", "heavy-tailed", "hit-10", "block-effects"])
def test_without_drift_warnings_are_rare(found: list[Outcome], model: str) -> None:
    for one in of(found, model):
        assert one.within_blocks_ratio <= 0.09
        assert one.trend_ratio <= 0.09


def test_drift_over_the_run_is_found(found: list[Outcome]) -> None:
    assert max(one.trend_ratio for one in of(found, "slow-drift")) >= 0.9


def test_arms_one_after_the_other_fail_where_the_machine_changes_in_between(found: list[Outcome]) -> None:
    for model in ("slow-drift", "block-effects", "autoregressive"):
        assert min(coverage(one, "means_sequential") for one in of(found, model)) < 0.8


def test_the_mean_of_baselines_misses_under_skewed_noise_and_baselines_apart_do_not(found: list[Outcome]) -> None:
    for one in of(found, "hit-10"):
        assert one.figures["against_mean"].bias_ns < -1 < one.figures[OURS].bias_ns


@pytest.mark.deep
def test_figures_computed_from_intervals_cover_as_much(also: list[Share]) -> None:
    computed = [one for one in also if one.unit == "blocks" and "parted" not in one.what]
    assert len({one.what for one in computed}) == 4
    assert [one for one in computed if one.ratio < TARGET] == []


def test_equal_cases_are_seldom_parted(also: list[Share]) -> None:
    wrong = [one.ratio for one in also if one.what.startswith("any two")]
    assert wrong
    assert max(wrong) <= 0.05


@pytest.mark.parametrize("blocks", [6, 9])
def test_many_repetitions_at_once_give_what_the_package_gives_for_each(blocks: int) -> None:
    drawn = runs(blocks)
    for number, (traced, untraced) in enumerate(zip(drawn.traced_ns, drawn.untraced_ns, strict=True)):
        assert row(paired(drawn), number) == paired_estimate(traced[:, np.newaxis] - untraced)
        assert row(against_mean(drawn), number) == estimate(traced - untraced.mean(axis=1))
        assert minima(drawn).value[number] == fastest(traced, untraced.ravel())


def test_the_interval_of_means_is_welchs() -> None:
    drawn = runs()
    for number, (traced, untraced) in enumerate(zip(drawn.traced_ns, drawn.untraced_ns, strict=True)):
        reference = scipy.stats.ttest_ind(traced, untraced.ravel(), equal_var=False).confidence_interval()
        one = row(means(drawn), number)
        assert (one.low, one.high) == pytest.approx((reference.low, reference.high))


def test_without_noise_every_estimator_is_right() -> None:
    noise = np.zeros((2, 6, RUNS_PER_BLOCK))
    for drawn in (interleaved(noise, layouts(6, 2, seed=1), 1.0), sequential(noise, 1.0)):
        for estimator in (*IN_BLOCKS.values(), *OF_ARMS.values()):
            with np.errstate(invalid="ignore"):
                assert estimator(drawn).value.tolist() == [COST_NS, COST_NS]


def test_a_layout_has_two_baselines_and_a_case_at_places_of_their_own() -> None:
    places = layouts(blocks=7, count=20, seed=4)
    assert places.shape == (20, 7, 3)
    assert len({tuple(one) for one in places.reshape(-1, 3)}) > CASES
    for first, second, traced in places.reshape(-1, 3):
        assert 0 <= first < second < RUNS_PER_BLOCK
        assert traced not in {first, second}


def test_arms_one_after_the_other_take_as_many_runs_from_the_start_of_the_same_time() -> None:
    noise = np.arange(6.0 * RUNS_PER_BLOCK).reshape(1, 6, RUNS_PER_BLOCK)
    drawn = sequential(noise, 1.0)
    assert drawn.untraced_ns.max() < drawn.traced_ns.min() - COST_NS
    assert (drawn.untraced_ns.size, drawn.traced_ns.size) == (12, 6)


@pytest.mark.deep
def test_the_same_seed_prints_the_same_tables_and_another_seed_others() -> None:
    def printed(seed: int) -> str:
        return model_table(list(outcomes(TINY, seed)), TINY, seed) + combined_tables(
            list(shares(TINY, seed)), TINY, seed
        )

    assert printed(1) == printed(1)
    assert printed(1) != printed(2)


def test_the_document_has_every_model_with_every_number_of_blocks(found: list[Outcome], also: list[Share]) -> None:
    told = document(found, also, SHORT, SEED)
    assert isinstance(told["outcomes"], list)
    assert len(told["outcomes"]) == len(MODELS) * len(SHORT.blocks)
    assert told["seed"] == SEED
