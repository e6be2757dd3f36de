"""The interval of a current cost holds the next run: what repeated runs differ by, and what follows from it."""

from __future__ import annotations

import random

import pytest

from helpers.number_builder import number, submission
from probe_effect.model import Estimate
from probe_effect.numbers import index
from probe_effect.numbers.index import Numbers
from probe_effect.numbers.submission import Number, Submission

SECOND, THIRD = "2026-11-21T10:00:00Z", "2026-11-22T10:00:00Z"
CASES = [f"{place:02d}-case" for place in range(60)]
TRUTH_NS, OWN_ERROR_NS = 1000.0, 5.0


def repeated(between: float, runs: int = 2, seed: int = 1) -> list[Submission]:
    """Runs of one suite on one machine, whose costs differ by a share of them beside their own error."""
    chance = random.Random(seed)  # noqa: S311 (a simulation)
    made = [submission(started=f"2026-11-{20 + run}T10:00:00Z") for run in range(runs)]
    for own in made:
        for case in CASES:
            value = TRUTH_NS * (1 + chance.gauss(0, between)) + chance.gauss(0, OWN_ERROR_NS)
            number(own, Estimate(value, value - 1.96 * OWN_ERROR_NS, value + 1.96 * OWN_ERROR_NS), case)
    return made


def within(interval: Estimate, one: Number) -> bool:
    return (interval.low or 0.0) <= one.known_cost.value <= (interval.high or 0.0)


def of_runs(*values: float) -> list[Number]:
    return [number(submission(), Estimate(one, one - 9.8, one + 9.8)) for one in values]


@pytest.mark.parametrize("between", [0.03, 0.1])
def test_the_spread_between_runs_is_found_from_pairs_of_them(between: float) -> None:
    found = index.spread_between_runs(index.repeated(repeated(between)).values())
    assert found is not None
    assert between / 2 < found < between * 2


def test_runs_that_repeat_themselves_have_hardly_a_spread() -> None:
    found = index.spread_between_runs(index.repeated(repeated(0.0)).values())
    assert found is not None
    assert found < 0.01


def test_too_little_that_was_repeated_gives_no_spread() -> None:
    assert index.spread_between_runs([of_runs(1000, 1200)] * (index.FEWEST_PAIRS - 1)) is None
    assert index.spread_between_runs([of_runs(1000, 1200)] * index.FEWEST_PAIRS) is not None


def test_the_next_run_is_inside_the_interval_of_a_current_cost_as_often_as_is_said() -> None:
    *known, last = repeated(0.08, runs=3)
    current = Numbers(known).current()
    inside = [within(one.known_cost, next_one) for one, next_one in zip(current, last.numbers, strict=True)]
    own = [within(one.known_cost, next_one) for one, next_one in zip(known[-1].numbers, last.numbers, strict=True)]
    assert sum(inside) / len(inside) > 0.85
    assert sum(own) / len(own) < 0.5


def test_a_current_cost_keeps_the_value_that_its_page_has_and_widens_its_slowdown_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Numbers, "spread", 0.1)
    own = submission()
    first = number(own, Estimate(1000.0, 990.0, 1010.0), slowdown=Estimate(2.0, 1.98, 2.02))
    (wide,) = Numbers([own]).current()
    assert (wide.known_cost.value, wide.id) == (1000.0, first.id)
    reach = 1.96 * 0.1 * 2**0.5
    assert wide.known_cost.high == pytest.approx(1000 * (1 + reach), rel=0.01)
    assert wide.time.slowdown is not None
    assert wide.time.slowdown.low == pytest.approx(2 * (1 - reach), rel=0.01)


@pytest.mark.parametrize("cost", [Estimate(1000.0), Estimate(1000.0, 900.0)])
def test_a_cost_without_both_ends_stays_as_it_is(cost: Estimate) -> None:
    assert index.for_next_run(cost, 0.1) == cost
    assert index.for_next_run(Estimate(1000.0, 900.0, 1100.0), None) == Estimate(1000.0, 900.0, 1100.0)


def test_what_is_computed_of_costs_of_one_run_takes_their_own_intervals() -> None:
    runs = repeated(0.1)
    own = Numbers(runs, is_for_next_run=False)
    assert own.spread is None
    assert [one.known_cost for one in own.current()] == [one.known_cost for one in runs[-1].numbers]


def test_runs_of_another_version_or_machine_are_no_repetitions() -> None:
    first, second = repeated(0.1)
    other = submission(machine="another-machine", started=SECOND)
    number(other, Estimate(1000.0, 990.0, 1010.0), CASES[0])
    older = submission(started=THIRD, document={"run__suite_version": 99})
    number(older, Estimate(1000.0, 990.0, 1010.0), CASES[0])
    found = index.repeated([first, second, other, older])
    assert all({one.submission for one in runs} == {first, second} for runs in found.values())


def test_where_nothing_was_repeated_a_cost_keeps_its_own_interval() -> None:
    own = submission()
    made = number(own, Estimate(1000.0, 990.0, 1010.0))
    assert Numbers([own]).current()[0].known_cost == made.known_cost


def test_everybody_gets_the_same_number_and_it_is_current() -> None:
    numbers = Numbers(repeated(0.1))
    [one, *_] = numbers.current()
    assert numbers.of_case(one.case) == [one]
    assert numbers.is_current(one)
    newest = max(numbers.submissions, key=lambda own: own.started)
    assert all(numbers.is_current(own) for own in newest.numbers)
