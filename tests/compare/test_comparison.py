"""Two measurements against each other: what is a difference, and what the sentences make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.builders import baseline_row, machine_values, many_blocks, traced_row, write_submission
from helpers.number_builder import altered, number, submission
from probe_effect import units
from probe_effect.compare.comparison import (
    Comparison,
    Side,
    between,
    between_tracers,
    compare,
    expected_by_chance,
    outcomes,
    ranked,
    since,
)
from probe_effect.model import Estimate, Key
from probe_effect.numbers.catalogue import read_numbers
from probe_effect.numbers.rows import ADD_UP
from probe_effect.site.pages import comparison
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Sample
    from probe_effect.numbers.submission import Number, Submission

FLOOR_NS = 5.0
MIRROR = {
    "higher": "lower",
    "lower": "higher",
    "no difference": "no difference",
    "not comparable": "not comparable",
}

thousandths = st.integers(-(10**9), 10**9).map(lambda value: value / 1000)
widths = st.integers(0, 10**8).map(lambda value: value / 1000)


@st.composite
def costs(draw: st.DrawFn) -> Estimate:
    value = draw(thousandths)
    return Estimate(value, value - draw(widths), value + draw(widths))


def measurement(cost: Estimate | None, own: Submission | None = None, **values: Any) -> Number:  # noqa: ANN401
    """A cost, in a submission of its own unless one is given."""
    return number(submission() if own is None else own, cost, **{"noise_floor_ns": FLOOR_NS, **values})


def outcome_of(first: Estimate, second: Estimate) -> str:
    return compare(measurement(first), measurement(second)).outcome


# What is a difference


def test_a_cost_above_another_by_more_than_their_intervals_is_higher() -> None:
    assert outcome_of(Estimate(100, 95, 105), Estimate(150, 145, 155)) == "higher"
    assert outcome_of(Estimate(150, 145, 155), Estimate(100, 95, 105)) == "lower"


def test_where_the_interval_of_the_difference_holds_0_there_is_no_difference() -> None:
    assert outcome_of(Estimate(100, 80, 120), Estimate(120, 95, 145)) == "no difference"


def test_a_difference_within_the_larger_noise_floor_is_none_however_sure() -> None:
    first = measurement(Estimate(100, 99.9, 100.1), noise_floor_ns=1.0)
    second = measurement(Estimate(108, 107.9, 108.1), noise_floor_ns=9.0)
    assert compare(first, second).outcome == "no difference"
    assert compare(first, altered(second, noise_floor_ns=7.0)).outcome == "higher"


@pytest.mark.parametrize(
    ("unsound", "words"),
    [
        pytest.param(measurement(Estimate(90, 80, 100), faults=(ADD_UP,)), "its events do not add up", id="events"),
        pytest.param(measurement(Estimate(90)), "too few blocks for an interval", id="no interval"),
        pytest.param(measurement(Estimate(90, 80, 100), noise_floor_ns=None), "no noise floor", id="no noise floor"),
    ],
)
def test_what_cannot_be_trusted_is_not_compared_and_the_reason_is_the_same_either_way(
    unsound: Number, words: str
) -> None:
    sound = measurement(Estimate(200, 190, 210))
    there, back = compare(sound, unsound), compare(unsound, sound)
    assert there.outcome == back.outcome == "not comparable"
    assert there.reason == back.reason
    assert words in str(there.reason)


def test_times_are_never_compared_with_counts_of_instructions() -> None:
    time, count = measurement(Estimate(90, 80, 100)), number(submission(metric="instructions"), Estimate(200, 190, 210))
    for pair in ((time, count), (count, time)):
        with pytest.raises(ValueError, match="a time and a count are never compared"):
            compare(*pair)


@pytest.mark.parametrize("is_first", [True, False])
def test_without_a_cost_there_is_nothing_to_compare(is_first: bool) -> None:
    pair = (measurement(None), measurement(Estimate(1, 0, 2)))
    with pytest.raises(ValueError, match="has no cost"):
        compare(*(pair if is_first else reversed(pair)))


@given(costs(), costs())
def test_swapping_the_sides_swaps_the_words_negates_the_difference_and_inverts_the_ratio(
    one: Estimate, other: Estimate
) -> None:
    first, second = measurement(one), measurement(other)
    there, back = compare(first, second), compare(second, first)
    assert back.outcome == MIRROR[there.outcome]
    value, low, high = (-(end or 0) for end in there.difference)
    assert back.difference == pytest.approx((value, high, low))
    if there.ratio is not None and back.ratio is not None:
        assert back.ratio.value == pytest.approx(1 / there.ratio.value)


# Two tracers in the same blocks


def shared_noise(tracers: dict[str, float], blocks: int = 10) -> list[Sample]:
    """Blocks that differ by much, in each of which a tracer costs just so much more than the other."""
    rows = []
    for block in range(blocks):
        base_ns = 100 + 40 * (block % 3)
        found = [baseline_row(block, 0, 100), baseline_row(block, len(tracers) + 1, 101)]
        found += [
            traced_row(block, place, base_ns + cost_ns, tracer=tracer)
            for place, (tracer, cost_ns) in enumerate(tracers.items(), start=1)
        ]
        rows += sorted(found, key=lambda row: row.position)
    return rows


def read(data: Path) -> list[Submission]:
    """The submissions of `data`, newest first."""
    (found,) = read_numbers(DataFolder(data)).numbers.machines().values()
    return found


def test_tracers_of_the_same_blocks_are_compared_block_by_block(tmp_path: Path) -> None:
    write_submission(tmp_path, shared_noise({"bpftrace": 50, "libbpf": 30}))
    (own,) = read(tmp_path)
    (found,) = between_tracers(Side("m", (own,)), "bpftrace", "libbpf")
    assert found.is_paired
    assert found.outcome == "lower"
    assert found.difference == pytest.approx((-20, -20, -20))


def test_the_same_tracers_in_two_submissions_are_compared_as_independent(tmp_path: Path) -> None:
    write_submission(tmp_path, shared_noise({"bpftrace": 50}))
    write_submission(tmp_path, shared_noise({"libbpf": 30}), folder="2026-11-20-per-event-2")
    (found,) = between_tracers(Side("m", tuple(read(tmp_path))), "bpftrace", "libbpf")
    assert not found.is_paired
    assert found.outcome == "no difference"


def test_a_submission_with_both_tracers_comes_before_newer_ones_with_one(tmp_path: Path) -> None:
    write_submission(tmp_path, shared_noise({"bpftrace": 50, "libbpf": 30}))
    later = machine_values()
    later["run"]["started"] = "2026-12-01T00:00:00Z"
    write_submission(tmp_path, shared_noise({"bpftrace": 90}), later, "2026-12-01-per-event")
    (found,) = between_tracers(Side("m", tuple(read(tmp_path))), "bpftrace", "libbpf")
    assert found.is_paired


def test_too_few_common_blocks_give_no_comparison(tmp_path: Path) -> None:
    rows = shared_noise({"bpftrace": 50, "libbpf": 30}, 12)
    kept = [row for row in rows if row.tracer == "none" or (row.tracer == "libbpf") == (row.block >= 6)]
    write_submission(tmp_path, [*kept, traced_row(0, 9, 190, tracer="libbpf")])
    (found,) = between_tracers(Side("m", tuple(read(tmp_path))), "bpftrace", "libbpf")
    assert (found.outcome, found.reason) == ("not comparable", "too few blocks that both have for an interval")


# Sides


def at(started: str) -> dict[str, Any]:
    values = machine_values()
    values["run"]["started"] = started
    return values


def test_of_a_machine_the_newest_sound_measurement_counts(tmp_path: Path) -> None:
    write_submission(tmp_path, many_blocks(cost_ns=50))
    write_submission(tmp_path, many_blocks(cost_ns=70), at("2026-12-01T00:00:00Z"), "2026-12-01-per-event")
    write_submission(tmp_path, many_blocks(cost_ns=90, seen=1), at("2026-12-02T00:00:00Z"), "2026-12-02-per-event")
    (found,) = Side("m", tuple(read(tmp_path))).numbers.values()
    assert found.cost == Estimate(70, 70, 70)


def test_a_measurement_is_never_compared_with_itself(tmp_path: Path) -> None:
    write_submission(tmp_path)
    side = Side("m", tuple(read(tmp_path)))
    assert between(side, side) == []


def test_a_submission_is_set_against_the_newest_earlier_one_of_its_suite(tmp_path: Path) -> None:
    write_submission(tmp_path, many_blocks(cost_ns=50), at("2026-11-01T00:00:00Z"), "2026-11-01-per-event")
    write_submission(tmp_path, many_blocks(cost_ns=60), at("2026-11-02T00:00:00Z"), "2026-11-02-per-event")
    write_submission(tmp_path, many_blocks(cost_ns=80), at("2026-11-03T00:00:00Z"), "2026-11-03-per-event")
    submissions = read(tmp_path)
    (found,) = since(submissions[0], submissions)
    assert found.first.submission.files.folder.name == "2026-11-02-per-event"
    assert (found.outcome, found.difference.value) == ("higher", 20)
    assert since(submissions[-1], submissions) == []


def test_two_runs_must_differ_by_more_than_runs_do_beside_their_own_intervals() -> None:
    first = measurement(Estimate(1000, 990, 1010))
    near, far = (measurement(Estimate(value, value - 10, value + 10), submission()) for value in (1050, 1400))
    assert [compare(first, one).outcome for one in (near, far)] == ["higher", "higher"]
    found = [compare(first, one, spread=0.06) for one in (near, far)]
    assert [one.outcome for one in found] == ["no difference", "higher"]
    assert [one.difference.value for one in found] == [50, 400]


def test_costs_of_one_run_are_compared_without_the_spread_between_runs(tmp_path: Path) -> None:
    write_submission(tmp_path, shared_noise({"bpftrace": 50, "libbpf": 52}))
    first, second = (one for one in read(tmp_path)[0].numbers if one.is_known)
    assert compare(first, second).is_paired
    assert compare(first, second, spread=0.06) == compare(first, second)


# Ranks


def test_overlapping_intervals_share_their_places() -> None:
    own = submission()
    a = measurement(Estimate(10, 9, 12), own, tracer="a")
    b = measurement(Estimate(11, 10, 13), own, tracer="b")
    c = measurement(Estimate(50, 45, 55), own, tracer="c")
    assert [(one.tracer, rank.first, rank.last) for one, rank in ranked([c, b, a])] == [
        ("a", 1, 2),
        ("b", 1, 2),
        ("c", 3, 3),
    ]
    lowest, highest = "one of a and b (their intervals overlap) has the lowest overhead", "c has the highest"
    assert comparison.ranking([a, b, c], "M") == f"Of the 3 tracers on M, {lowest}, and {highest}."
    assert set(comparison.places([a, b, c]).values()) == {"1 to 2", "3"}


def test_tracers_that_all_overlap_are_not_ranked_in_words() -> None:
    pair = [measurement(Estimate(10, 5, 15), tracer=tracer) for tracer in ("a", "b")]
    assert comparison.ranking(pair, "M") == "On M the 2 tracers show no difference: all their intervals overlap."


def test_what_is_no_difference_from_0_or_does_not_add_up_has_no_place() -> None:
    sound = measurement(Estimate(10, 9, 12))
    assert ranked([sound, measurement(Estimate(1, -1, 2))])[0][0] is sound
    assert comparison.ranking([sound, measurement(Estimate(50, 45, 55), faults=(ADD_UP,))], "M") is None
    assert comparison.places([sound]) == {}


# Words


def comparisons() -> list[Comparison]:
    """One of each outcome, and two without a difference."""
    base = measurement(Estimate(100, 99, 101))
    others = [Estimate(200, 199, 201), Estimate(50, 49, 51), Estimate(100, 98, 102), Estimate(101, 98, 104)]
    found = [compare(base, measurement(other)) for other in others]
    return [*found, compare(base, measurement(Estimate(100)))]


def test_a_summary_counts_every_outcome_once() -> None:
    assert sum(outcomes(comparisons()).values()) == 5
    said = "1 has higher overhead on B, 1 has lower overhead, 2 show no difference and 1 is not comparable"
    assert comparison.summary(comparisons(), "on B") == f"Of 5 comparisons, {said}."
    assert comparison.summary(comparisons()[1:2], "on B") == "Of 1 comparison, 1 has lower overhead on B."


def test_chance_counts_only_what_could_be_compare() -> None:
    assert expected_by_chance(comparisons()) == pytest.approx(0.2)
    said = "Of 4 independent comparisons of equal costs, at most about 0.20 would come out unequal by chance."
    assert comparison.chance(comparisons()) == said


def test_a_sentence_has_the_difference_with_its_interval_and_the_ratio() -> None:
    higher, lower, same, _, unknown = comparisons()
    said = comparison.between_submissions(higher).replace("\u00a0", " ")
    assert said.startswith("“02-kprobe” with bpftrace has higher overhead in ")
    assert ": difference 100.0 ns (" in said
    assert said.endswith(" the cost.")
    assert " has lower overhead in " in comparison.between_submissions(lower)
    assert units.MINUS in comparison.cells(lower)[0]
    assert " shows no difference between " in comparison.between_submissions(same)
    assert comparison.between_submissions(unknown).endswith("bpftrace: too few blocks for an interval.")


def test_levels_of_a_case_come_in_the_order_of_their_numbers() -> None:
    keys = [Key("01-sweep", "bpftrace", level) for level in ("1000", "0", "30")]
    assert [key.level for key in sorted(keys, key=lambda key: key.order)] == ["0", "30", "1000"]
