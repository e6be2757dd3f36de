"""From a question to its answer: which machine stands for the asker's, and what the probes do there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from helpers.builders import machine_document
from helpers.evidence_builder import MACHINE, TRACER, case, evidence, measured, suite
from probe_effect.answer.answers import answer, tried
from probe_effect.answer.question import Combination, ProbeQuestion, Question
from probe_effect.model import Estimate, ProbeEffectError
from probe_effect.numbers.shown import facts_of

if TYPE_CHECKING:
    from probe_effect.costs.evidence import Evidence
    from probe_effect.numbers.submission import Number

HERE = facts_of(machine_document(machine__id="here").machine, "6.12.1-amd64")
ELSEWHERE = replace(HERE, architecture="aarch64")
COST = Estimate(1000.0, 900.0, 1100.0)
SUITE = suite(
    "tiny",
    case("plain", "tracepoint"),
    case("counted", "tracepoint", "count"),
    case("probe", "uprobe"),
    case("counted-again", "tracepoint", "count"),
    case("two-at-once", "tracepoint", "count", parts=["plain", "counted"]),
)
THREADS = suite(
    "threads",
    case("many", like="probe"),
    factor={"name": "threads", "title": "-", "unit": "-", "levels": [1, 2], "occupies_cpus": True},
)
NESTED = {"machine__virtualization": "KVM", "machine__nested": True}


def asked(*cases: str, rate_hz: float = 50_000, **other: object) -> Question:
    return replace(Question(probes=tuple(ProbeQuestion(name, rate_hz) for name in cases)), **other)  # type: ignore[arg-type]


def known(*costs: Number) -> Evidence:
    return evidence((SUITE, THREADS), *costs)


def test_the_answer_is_that_of_this_machine_where_it_was_measured() -> None:
    found = known(measured("probe", COST), measured("probe", Estimate(5.0, 4.0, 6.0), machine="here"))
    nearest = answer(found, asked("probe"), HERE).headline
    assert nearest is not None
    assert nearest.forecast.facts.machine == "here"
    assert nearest.likeness.reasons == ("the same machine",)


def test_elsewhere_the_range_over_all_machines_of_the_kind_answers() -> None:
    far = measured("probe", Estimate(90.0, 80.0, 95.0), machine="far", document={"machine__cpu_model": "Another CPU"})
    said = answer(known(far, measured("probe", COST)), asked("probe"), HERE)
    assert said.headline is not None
    assert said.headline.forecast.cost == Estimate(COST.value, 80.0, 1100.0)
    assert said.headline.forecast.machines == (MACHINE, "far")
    assert "same CPU name, Example CPU 9000" in said.headline.likeness.reasons
    assert [one.forecast.facts.machine for one in said.comparable] == [MACHINE, "far"]


def test_machines_of_another_kind_answer_with_that_mark_where_no_other_does() -> None:
    said = answer(known(measured("probe", COST)), asked("probe"), ELSEWHERE)
    assert "Another kind of machine" in (said.headline.forecast.parts[0].note or "")
    assert not said.headline.likeness.comparable
    assert [one.forecast.facts.machine for one in said.neighbours] == [MACHINE]


def test_a_named_machine_answers_for_itself_with_those_like_it_beside() -> None:
    found = known(
        measured("probe", COST),
        measured("probe", COST, machine="nested-1", document=NESTED),
        measured("probe", COST, machine="nested-2", document=NESTED),
    )
    said = answer(found, asked("probe", machine="nested-2"), HERE)
    assert [one.forecast.facts.machine for one in said.comparable] == ["nested-2", "nested-1"]


def test_without_a_tracer_the_one_with_most_cases_that_has_the_case_is_taken() -> None:
    found = known(
        measured("probe", COST, tracer="libbpf"),
        measured("plain", COST, tracer="strace"),
        measured("plain", COST, tracer="bpftrace"),
        measured("counted", COST, tracer="bpftrace"),
        measured("counted", COST, tracer="libbpf"),
        measured("counted-again", COST, tracer="bpftrace"),
    )
    assert answer(found, asked("plain"), HERE).neighbours[0].forecast.tracer == "bpftrace"
    assert answer(found, asked("probe"), HERE).neighbours[0].forecast.tracer == "libbpf"


def test_the_tracer_that_is_taken_is_one_that_the_named_machine_has() -> None:
    found = known(
        measured("probe", COST, tracer="bpftrace"),
        measured("plain", COST, tracer="bpftrace"),
        measured("probe", COST, tracer="strace", machine="other"),
    )
    assert answer(found, asked("probe", machine="other"), HERE).neighbours[0].forecast.tracer == "strace"


def test_of_several_probes_each_has_the_costs_of_the_nearest_machines() -> None:
    found = known(measured("probe", COST), measured("plain", COST), measured("probe", COST, machine="here"))
    nearest = answer(found, asked("probe", "plain"), HERE).headline
    assert nearest is not None
    assert [part.machines for part in nearest.forecast.parts] == [("here",), (MACHINE,)]
    assert nearest.forecast.load.rate_hz == 100_000
    assert nearest.forecast.prediction.slowdown == pytest.approx((0.1, 0.09, 0.11))


def test_threads_that_were_measured_make_an_event_cost_more() -> None:
    levels = (measured("many", Estimate(100.0 * n, 99.0 * n, 101.0 * n), level=str(n)) for n in (1, 2))
    nearest = answer(known(measured("probe", COST), *levels), asked("probe", threads=2), HERE).headline
    assert nearest is not None
    (part,) = nearest.forecast.parts
    assert part.contention is not None
    assert part.contention.threads == 2
    assert part.cost.value == pytest.approx(2000)


def test_a_cost_that_is_none_limits_the_slowdown_by_the_noise_floor() -> None:
    noise = measured("probe", Estimate(0.5, -1.0, 2.0), noise_floor_ns=4.0)
    nearest = answer(known(noise), asked("probe"), HERE).headline
    assert nearest is not None
    assert not nearest.forecast.is_clear
    assert nearest.forecast.prediction.slowdown.high == pytest.approx(4.0 * 50_000 / 1e9)


@pytest.mark.parametrize(
    ("cost", "floor_ns", "is_clear"),
    [
        (COST, 4.0, True),
        (Estimate(1000.0), 4.0, True),
        (Estimate(-5.0), 4.0, False),
        (Estimate(-5.0, -7.0, -3.0), 4.0, False),
        (COST, 2000.0, False),
    ],
)
def test_a_slowdown_is_told_from_none_only_by_a_cost_above_zero(
    cost: Estimate, floor_ns: float, is_clear: bool
) -> None:
    nearest = answer(known(measured("probe", cost, noise_floor_ns=floor_ns)), asked("probe"), HERE).headline
    assert nearest is not None
    assert nearest.forecast.is_clear is is_clear


def test_the_grade_is_the_worst_of_all_that_the_answer_rests_on() -> None:
    graded = measured("plain", COST, grade="D", grade_reasons=("one block",))
    nearest = answer(known(measured("probe", COST), graded), asked("probe", "plain"), HERE).headline
    assert nearest is not None
    assert nearest.forecast.grade == ("D", ("fewer than 20 blocks", "one block"))


@pytest.mark.parametrize(
    ("rate_hz", "loss_ratio", "expected"), [(50_000, 0.0, 0.0), (9e6, 0.0, None), (1e7, 0.5, 1 - 0.5e6 / (1e7 / 11))]
)
def test_loss_is_expected_of_what_was_lost_at_the_rate_measured(
    rate_hz: float, loss_ratio: float, expected: float | None
) -> None:
    found = known(measured("probe", COST if rate_hz == 1e7 else Estimate(1.0), loss_ratio=loss_ratio))
    nearest = answer(found, asked("probe", rate_hz=rate_hz), HERE).headline
    assert nearest is not None
    assert nearest.forecast.loss_ratio == (None if expected is None else pytest.approx(expected))


def test_what_nobody_counted_has_no_expected_loss() -> None:
    nearest = answer(known(measured("probe", COST, loss_ratio=None)), asked("probe"), HERE).headline
    assert nearest is not None
    assert nearest.forecast.loss_ratio is None


PARTS = (
    measured("plain", Estimate(100.0, 90.0, 110.0)),
    measured("counted", Estimate(150.0, 140.0, 160.0)),
    measured("probe", COST),
)


def combined(probe: str, action: str) -> Question:
    return Question(combination=Combination(probe, action, 50_000))


def test_a_combination_that_nobody_measured_is_composed_of_three_costs() -> None:
    nearest = answer(known(*PARTS), combined("uprobe", "count"), HERE).headline
    assert nearest is not None
    (part,) = nearest.forecast.parts
    assert part.basis == "composed"
    assert [source.case for source in part.sources] == ["probe", "counted", "plain"]
    assert part.cost.value == pytest.approx(1050)


def test_a_probe_that_never_fires_is_no_part_of_a_composition() -> None:
    silent = suite("silent", case("never", "silent-tracepoint", counted_by="nothing"))
    costs = (measured("never", COST), measured("plain", COST), measured("counted", COST))
    with pytest.raises(ProbeEffectError, match="nobody measured it"):
        answer(evidence((SUITE, silent), *costs), combined("silent-tracepoint", "count"), HERE)


def test_a_combination_that_a_case_has_is_that_case() -> None:
    nearest = answer(known(*PARTS), combined("tracepoint", "count"), HERE).headline
    assert nearest is not None
    assert [part.name for part in nearest.forecast.parts] == ["counted"]
    assert nearest.forecast.parts[0].basis == "measured"


def test_of_several_cases_that_have_a_combination_the_median_one_answers() -> None:
    said = answer(known(*PARTS, measured("counted-again", COST)), combined("tracepoint", "count"), HERE)
    assert said.headline is not None
    assert said.headline.forecast.parts[0].name in {"counted", "counted-again"}


def test_a_case_of_several_probes_is_no_combination_of_one() -> None:
    found = known(*PARTS, measured("two-at-once", COST))
    nearest = answer(found, combined("tracepoint", "count"), HERE).headline
    assert nearest is not None
    assert nearest.forecast.parts[0].name == "counted"


def test_an_action_is_composed_only_of_costs_of_one_suite() -> None:
    other = suite("other", case("far-plain", "tracepoint"), case("far-probe", "uprobe"))
    found = evidence((SUITE, other), PARTS[1], measured("far-plain", COST), measured("far-probe", COST))
    with pytest.raises(ProbeEffectError, match="two of one suite"):
        answer(found, combined("uprobe", "count"), HERE)


def test_a_probe_of_the_actions_own_suite_is_preferred() -> None:
    other = suite("other", case("far-probe", "uprobe"))
    found = evidence((other, SUITE), measured("far-probe", COST), *PARTS)
    nearest = answer(found, combined("uprobe", "count"), HERE).headline
    assert nearest is not None
    assert nearest.forecast.parts[0].sources[0].case == "probe"


def test_without_guidance_the_reason_and_what_has_some_are_said() -> None:
    unsound = measured("probe", COST, faults=("its events do not add up",))
    found = known(measured("probe", COST, tracer="libbpf"), measured("plain", COST), unsound)
    message = (
        rf"probe with {TRACER}: no guidance: its events do not add up\. It has guidance with: libbpf on {MACHINE}\."
    )
    with pytest.raises(ProbeEffectError, match=message):
        answer(found, asked("probe", tracer=TRACER), HERE)


def test_a_machine_without_the_case_is_named_in_the_refusal() -> None:
    found = known(measured("probe", COST), measured("plain", COST, machine="other"))
    with pytest.raises(ProbeEffectError, match=f"probe with {TRACER} on other: no guidance: nobody measured it"):
        answer(found, asked("probe", machine="other"), HERE)


def test_a_case_that_is_measured_at_levels_leads_to_the_one_that_it_is_like() -> None:
    with pytest.raises(ProbeEffectError, match="it is probe at the levels of a factor, so ask for that"):
        answer(known(measured("probe", COST)), asked("many"), HERE)


def test_without_any_measurement_the_command_that_makes_one_is_named() -> None:
    with pytest.raises(ProbeEffectError, match="probe-effect measure"):
        answer(known(), asked("probe"), HERE)


def test_a_measured_case_is_tried_by_its_line_and_nothing_else() -> None:
    found = known(*PARTS)
    single = answer(found, asked("probe"), HERE).neighbours[0].forecast
    assert (tried(found, single).line, tried(found, single).combinations) == ((), ())
    double = answer(found, asked("probe", "plain"), HERE).neighbours[0].forecast
    assert tried(found, double).combinations == (("several probes", None),)
    composed = answer(found, combined("uprobe", "count"), HERE).neighbours[0].forecast
    assert tried(found, composed).combinations == (("probe and action", None),)
