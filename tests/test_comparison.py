"""Two measurements against each other: what is a difference, and what the sentences make of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import baseline_row, machine_document, machine_values, many_blocks, traced_row, write_submission
from probe_effect import units
from probe_effect.guidance.catalogue import MeasuredSubmission, read_catalogue
from probe_effect.guidance.comparison import (
    Comparison,
    Measurement,
    Side,
    between,
    between_tracers,
    compare,
    counted,
    expected_by_chance,
    ranked,
    since,
    without_counterpart,
)
from probe_effect.guidance.rows import CaseKey
from probe_effect.model import CaseSummary, Interval, SubmissionSummary
from probe_effect.pages import comparison
from probe_effect.store.places import DataFolder, Submission

if TYPE_CHECKING:
    from probe_effect.model import Metric, Sample

FLOOR_NS = 5.0
MIRROR = {
    "dearer": "cheaper",
    "cheaper": "dearer",
    "no difference": "no difference",
    "not comparable": "not comparable",
}

thousandths = st.integers(-(10**9), 10**9).map(lambda value: value / 1000)
widths = st.integers(0, 10**8).map(lambda value: value / 1000)


@st.composite
def costs(draw: st.DrawFn) -> Interval:
    value = draw(thousandths)
    return Interval(value, value - draw(widths), value + draw(widths))


def submission(name: str = "2026-11-20-per-event", metric: Metric = "time", **changes: object) -> MeasuredSubmission:
    """A submission without rows."""
    document = machine_document(**changes)
    summary = SubmissionSummary(
        id=f"{document.machine.id}/{name}",
        machine=document.machine.id,
        suite="per-event",
        metric=metric,
        grade="A",
        grade_reasons=(),
        noise_floor_ns=FLOOR_NS,
        baseline_ns=100.0,
        cases=(),
    )
    return MeasuredSubmission(Submission(Path("results") / document.machine.id / name), document, summary)


class Changes(TypedDict, total=False):
    """What tests change in a case."""

    case: str
    tracer: str
    noise_floor_ns: float | None
    reconciled: bool
    distinguishable: bool


def measurement(
    cost: Interval | None, own: MeasuredSubmission | None = None, **changes: Unpack[Changes]
) -> Measurement:
    """A measurement of `cost` in a submission of its own."""
    summary = CaseSummary(
        case="02-kprobe",
        tracer="bpftrace",
        level=None,
        status="ok",
        blocks=10,
        cost=cost,
        noise_floor_ns=FLOOR_NS,
        reconciled=True,
        distinguishable=True,
    )
    return Measurement(own or submission(), replace(summary, **changes))


def compared(first: Measurement, second: Measurement) -> Comparison:
    found = compare(first, second)
    assert found is not None
    return found


def outcome_of(first: Interval, second: Interval) -> str:
    return compared(measurement(first), measurement(second)).outcome


def ends(found: Interval) -> tuple[float, float | None, float | None]:
    return found.value, found.low, found.high


# What is a difference


def test_a_cost_above_another_by_more_than_their_intervals_is_dearer() -> None:
    assert outcome_of(Interval(100, 95, 105), Interval(150, 145, 155)) == "dearer"
    assert outcome_of(Interval(150, 145, 155), Interval(100, 95, 105)) == "cheaper"


def test_where_the_interval_of_the_difference_holds_0_there_is_no_difference() -> None:
    assert outcome_of(Interval(100, 80, 120), Interval(120, 95, 145)) == "no difference"


def test_a_difference_within_the_larger_noise_floor_is_none_however_sure() -> None:
    first = measurement(Interval(100, 99.9, 100.1), noise_floor_ns=1.0)
    second = measurement(Interval(108, 107.9, 108.1), noise_floor_ns=9.0)
    assert compared(first, second).outcome == "no difference"
    assert compared(first, replace(second, case=replace(second.case, noise_floor_ns=7.0))).outcome == "dearer"


@pytest.mark.parametrize(
    ("unsound", "words"),
    [
        pytest.param(measurement(Interval(90, 80, 100), reconciled=False), "its events do not add up", id="events"),
        pytest.param(measurement(Interval(90)), "too few blocks for an interval", id="no interval"),
        pytest.param(measurement(Interval(90, 80, 100), noise_floor_ns=None), "no noise floor", id="no noise floor"),
    ],
)
def test_what_cannot_be_trusted_is_not_compared_and_the_reason_is_the_same_either_way(
    unsound: Measurement, words: str
) -> None:
    sound = measurement(Interval(200, 190, 210))
    there, back = compared(sound, unsound), compared(unsound, sound)
    assert there.outcome == back.outcome == "not comparable"
    assert there.reason == back.reason
    assert words in str(there.reason)


def test_times_are_never_compared_with_instruction_counts() -> None:
    counts = measurement(Interval(200, 190, 210), submission(metric="instructions"))
    assert compared(measurement(Interval(90, 80, 100)), counts).outcome == "not comparable"


def test_without_a_cost_there_is_nothing_to_compare() -> None:
    assert compare(measurement(None), measurement(Interval(1, 0, 2))) is None


@given(costs(), costs())
def test_swapping_the_sides_swaps_the_words_negates_the_difference_and_inverts_the_ratio(
    one: Interval, other: Interval
) -> None:
    first, second = measurement(one), measurement(other)
    there, back = compared(first, second), compared(second, first)
    assert back.outcome == MIRROR[there.outcome]
    value, low, high = (-(end or 0) for end in ends(there.difference))
    assert ends(back.difference) == pytest.approx((value, high, low))
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


def read(data: Path) -> list[MeasuredSubmission]:
    """The submissions of `data`, newest first."""
    (found,) = read_catalogue(DataFolder(data)).machines().values()
    return found


def test_tracers_of_the_same_blocks_are_compared_block_by_block(tmp_path: Path) -> None:
    write_submission(tmp_path, shared_noise({"bpftrace": 50, "libbpf": 30}))
    (own,) = read(tmp_path)
    (found,) = between_tracers(Side("m", (own,)), "bpftrace", "libbpf")
    assert found.is_paired
    assert found.outcome == "cheaper"
    assert ends(found.difference) == pytest.approx((-20, -20, -20))


def test_the_same_tracers_in_two_submissions_are_compared_as_independent(tmp_path: Path) -> None:
    write_submission(tmp_path, shared_noise({"bpftrace": 50}))
    write_submission(tmp_path, shared_noise({"libbpf": 30}), folder="2026-11-20-per-event-2")
    (found,) = between_tracers(Side("m", tuple(read(tmp_path))), "bpftrace", "libbpf")
    assert not found.is_paired
    assert found.outcome == "no difference"
    assert "They were measured in different runs." in comparison.between_tracers(found)


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


def test_of_a_machine_the_newest_measurement_counts(tmp_path: Path) -> None:
    write_submission(tmp_path, many_blocks(cost_ns=50))
    write_submission(tmp_path, many_blocks(cost_ns=70), at("2026-12-01T00:00:00Z"), "2026-12-01-per-event")
    (found,) = Side("m", tuple(read(tmp_path))).measurements().values()
    assert found.case.cost == Interval(70, 70, 70)


def test_a_measurement_is_never_compared_with_itself(tmp_path: Path) -> None:
    write_submission(tmp_path)
    side = Side("m", tuple(read(tmp_path)))
    assert between(side, side) == []


def test_what_only_one_side_has_is_known() -> None:
    only, both = (measurement(Interval(9, 8, 10), case=case) for case in ("03-kretprobe", "02-kprobe"))
    first = replace(submission(), summary=replace(submission().summary, cases=(both.case, only.case)))
    side = Side("first", (first,))
    assert [one.case.case for one in without_counterpart(side, [both])] == ["03-kretprobe"]


def test_a_submission_is_set_against_the_newest_earlier_one_of_its_suite(tmp_path: Path) -> None:
    write_submission(tmp_path, many_blocks(cost_ns=50), at("2026-11-01T00:00:00Z"), "2026-11-01-per-event")
    write_submission(tmp_path, many_blocks(cost_ns=60), at("2026-11-02T00:00:00Z"), "2026-11-02-per-event")
    write_submission(tmp_path, many_blocks(cost_ns=80), at("2026-11-03T00:00:00Z"), "2026-11-03-per-event")
    submissions = read(tmp_path)
    (found,) = since(submissions[0], submissions)
    assert found.first.submission.files.folder.name == "2026-11-02-per-event"
    assert (found.outcome, found.difference.value) == ("dearer", 20)
    assert since(submissions[-1], submissions) == []


# Ranks


def test_overlapping_intervals_share_their_places() -> None:
    own = submission()
    a = measurement(Interval(10, 9, 12), own, tracer="a")
    b = measurement(Interval(11, 10, 13), own, tracer="b")
    c = measurement(Interval(50, 45, 55), own, tracer="c")
    assert [(one.measurement.case.tracer, one.first, one.last) for one in ranked([c, b, a])] == [
        ("a", 1, 2),
        ("b", 1, 2),
        ("c", 3, 3),
    ]
    said = "Of the 3 tracers on M, one of a and b (their intervals overlap) is the cheapest, and c is the dearest."
    assert comparison.ranking([a, b, c], "M") == said
    assert set(comparison.places([a, b, c]).values()) == {"1 to 2", "3"}


def test_tracers_that_all_overlap_are_not_ranked_in_words() -> None:
    pair = [measurement(Interval(10, 5, 15), tracer=tracer) for tracer in ("a", "b")]
    assert comparison.ranking(pair, "M") == "On M the 2 tracers cannot be told apart: all their intervals overlap."


def test_what_is_no_difference_from_0_or_does_not_add_up_has_no_place() -> None:
    sound = measurement(Interval(10, 9, 12))
    assert ranked([sound, measurement(Interval(1, -1, 2), distinguishable=False)])[0].measurement is sound
    assert comparison.ranking([sound, measurement(Interval(50, 45, 55), reconciled=False)], "M") is None
    assert comparison.places([sound]) == {}


# Words


def comparisons() -> list[Comparison]:
    """One of each outcome, and two without a difference."""
    base = measurement(Interval(100, 99, 101))
    others = [Interval(200, 199, 201), Interval(50, 49, 51), Interval(100, 98, 102), Interval(101, 98, 104)]
    found = [compared(base, measurement(other)) for other in others]
    return [*found, compared(base, measurement(Interval(100)))]


def test_a_summary_counts_every_outcome_once() -> None:
    assert sum(counted(comparisons()).values()) == 5
    said = "Of 5 comparisons, 1 is dearer on B, 1 is cheaper, 2 show no difference and 1 is not comparable."
    assert comparison.summary(comparisons(), "on B") == said
    assert comparison.summary(comparisons()[1:2], "on B") == "Of 1 comparison, 1 is cheaper on B."


def test_chance_counts_only_what_could_be_compared() -> None:
    assert expected_by_chance(comparisons()) == pytest.approx(0.2)
    said = "Of 4 independent comparisons of equal costs, at most about 0.20 would come out unequal by chance."
    assert comparison.chance(comparisons()) == said


def test_a_sentence_has_the_difference_with_its_interval_and_the_ratio() -> None:
    dearer, cheaper, same, _, unknown = comparisons()
    said = comparison.between_machines(dearer).replace("\u00a0", " ")
    machine = "Example CPU 9000, 8 CPUs, Linux 6.12 (machine)"
    assert said.startswith(f"02-kprobe with bpftrace is dearer on {machine} than on {machine}: difference 100.0 ns (")
    assert said.endswith(" the cost.")
    assert " is cheaper in " in comparison.between_submissions(cheaper)
    assert units.MINUS in comparison.cells(cheaper)[0]
    assert " shows no difference between " in comparison.between_submissions(same)
    assert comparison.between_submissions(unknown).endswith("bpftrace: too few blocks for an interval.")


@pytest.mark.parametrize(
    ("code", "words"),
    [({"libc:read": "90"}, None), ({"libc:read": "c3"}, "begins with other bytes"), ({}, "is not recorded for both")],
)
def test_a_probed_function_that_does_not_begin_alike_is_said(code: dict[str, str], words: str | None) -> None:
    first = measurement(Interval(100, 99, 101), submission(run__functions={"libc:read": "90"}))
    second = measurement(Interval(200, 199, 201), submission(run__functions=code))
    remarks = comparison.instruction_remarks(compared(first, second), ["libc:read"])
    assert [words in remark for remark in remarks if words] == ([True] if words else [])


def test_levels_of_a_case_come_in_the_order_of_their_numbers() -> None:
    keys = [CaseKey("01-sweep", "bpftrace", level) for level in ("1000", "0", "30")]
    assert [key.level for key in sorted(keys, key=lambda key: key.order)] == ["0", "30", "1000"]
