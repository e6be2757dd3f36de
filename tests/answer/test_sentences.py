"""An answer in sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from helpers.builders import machine_document
from helpers.evidence_builder import case, evidence, measured, suite
from probe_effect.answer import sentences
from probe_effect.answer.answers import answer, tried
from probe_effect.answer.question import ProbeQuestion, Question
from probe_effect.costs.actions import Agreement
from probe_effect.costs.row import RatePoint
from probe_effect.model import Estimate
from probe_effect.numbers.shown import facts_of

if TYPE_CHECKING:
    from probe_effect.answer.answers import Answer, Forecast
    from probe_effect.numbers.submission import Number

HERE = facts_of(machine_document().machine, "6.12.1-amd64")
COST = Estimate(11_000.0, 10_600.0, 11_400.0)
WHERE = "Example, machine"
SUITES = (
    suite("tiny", case("06-uprobe"), case("plain")),
    suite(
        "threads",
        case("many", like="06-uprobe"),
        factor={"name": "threads", "title": "-", "unit": "-", "levels": [1, 2], "occupies_cpus": True},
    ),
)


def plain(text: str) -> str:
    """`text` with ordinary blanks and minus."""
    return text.replace("\u202f", " ").replace("\u00a0", " ").replace("\u2212", "-")


def answered(*costs: Number, cases: tuple[str, ...] = ("06-uprobe",), **other: object) -> Answer:
    question = Question(probes=tuple(ProbeQuestion(name, 50_000) for name in cases))
    return answer(evidence(SUITES, *costs), replace(question, **other), HERE)  # type: ignore[arg-type]


def forecast(*costs: Number, cases: tuple[str, ...] = ("06-uprobe",), **other: object) -> Forecast:
    return answered(*(costs or (measured("06-uprobe", COST),)), cases=cases, **other).neighbours[0].forecast


@pytest.mark.parametrize(
    ("load", "paying"),
    [
        ({}, "a busy thread by 55.0 % (53.0 to 57.0)"),
        ({"threads": 4}, "each of 4 busy threads by 55.0 % (53.0 to 57.0)"),
        ({"busy_ratio": 0.5}, "a thread that is busy 50 % of its time by 110 % (106 to 114) while running"),
        (
            {"threads": 3, "busy_ratio": 0.5},
            "each of 3 threads that are busy 50 % of their time by 110 % (106 to 114) while running",
        ),
    ],
)
def test_the_sentence_says_who_pays_how_much_and_where(load: dict[str, Any], paying: str) -> None:
    found = plain(sentences.headline(forecast(**load)))
    assert found == f"At 50 k events/s, “06-uprobe” with bpftrace 0.23 slows {paying} on {WHERE}."


def test_a_cost_within_the_noise_is_only_limited() -> None:
    noise = measured("06-uprobe", Estimate(0.5, -1.0, 2.0), noise_floor_ns=4.0)
    found = forecast(noise)
    assert "is not distinguishable from 0" in sentences.headline(found)
    assert plain(sentences.headline(found)).endswith("it slows a busy thread by at most 0.020 %.")
    assert plain(sentences.cpu(found)) == "at most 0.00020 CPUs"
    assert {rate for _, rate in sentences.thresholds(found)} == {"at no measurable rate"}


def test_too_few_blocks_without_a_slowdown_say_nothing_of_its_size() -> None:
    found = forecast(measured("06-uprobe", Estimate(-3.0)))
    assert "in too few blocks to say more" in sentences.headline(found)
    assert sentences.cpu(found) == sentences.slowdown(found) == "—"


def test_several_probes_are_named_with_their_rates() -> None:
    found = forecast(measured("06-uprobe", COST), measured("plain", COST), cases=("06-uprobe", "plain"))
    assert plain(sentences.headline(found)).startswith(
        "At 100 k events/s in all (50 k/s of “06-uprobe”, 50 k/s of “plain”), “06-uprobe” together with “plain” "
        "with bpftrace"
    )


def test_thresholds_have_their_words_and_intervals() -> None:
    assert [(plain(limit), plain(rate)) for limit, rate in sentences.thresholds(forecast())] == [
        ("1 % (measurable)", "at 909 /s (877 to 943)"),
        ("5 % (significant)", "at 4.55 k/s (4.39 to 4.72)"),
        ("30 % (expensive)", "at 27.3 k/s (26.3 to 28.3)"),
    ]


@pytest.mark.parametrize(
    ("busy_ratio", "said"),
    [(0.4, "none: idle time pays"), (0.46, "1.0 % (0.0 to 3.0)"), (0.9, "45.0 % (43.0 to 47.0)")],
)
def test_a_delay_begins_where_idle_time_ends(busy_ratio: float, said: str) -> None:
    assert plain(sentences.delay(forecast(busy_ratio=busy_ratio))) == said


@pytest.mark.parametrize(
    ("loss_ratio", "rate_hz", "said"),
    [
        (0.0, 1e6, "none expected"),
        (0.5, 4e4, "38 % of the events"),
        (0.0, 1e4, "not known: none was lost at the rate that was measured, which is lower"),
        (None, 1e6, "not known: nobody counted them"),
    ],
)
def test_loss_is_said_or_why_it_is_not_known(loss_ratio: float | None, rate_hz: float, said: str) -> None:
    found = forecast(measured("06-uprobe", COST, loss_ratio=loss_ratio, rate_hz=rate_hz))
    assert plain(sentences.loss(found)) == said


def assumed(found: Forecast, *costs: Number) -> str:
    return plain(" ".join(sentences.assumptions(found, tried(evidence(SUITES, *costs), found))))


def test_an_answer_says_what_it_assumes() -> None:
    found = assumed(forecast())
    assert "One thread fires the probe" in found
    assert "The rate was counted without the tracer." in found
    assert "Caches are hot" in found
    assert "“06-uprobe” was measured at up to 1.0 M events/s while traced." in found
    assert "Rate × cost was not checked at other rates on this machine." in found
    assert "idle time" not in found


@pytest.mark.parametrize(("kernel", "is_warned"), [("6.12.1", False), ("6.18.1", True), ("7.3.4", False)])
def test_an_answer_warns_of_a_call_into_the_red_zone(kernel: str, is_warned: bool) -> None:
    nop5 = suite("nops", case("nop5", needs=["uprobe"], functions=["loop:nop5"]))
    changes = {"run__functions": {"loop:nop5": "0f 1f 44 00 00"}, "system__kernel_release": kernel}
    known = evidence((nop5,), measured("nop5", COST, document=changes))
    found = answer(known, Question(probes=(ProbeQuestion("nop5", 1e3),)), HERE).neighbours[0].forecast
    said = sentences.assumptions(found, tried(known, found))
    assert any("red zone" in one and "“nop5”" in one for one in said) == is_warned


def test_beyond_the_measured_rate_the_line_is_only_drawn_on() -> None:
    found = assumed(forecast(measured("06-uprobe", COST, rate_hz=1e4)))
    assert "measured at up to 10 k events/s while traced; higher rates are extrapolated." in found


def test_threads_that_nobody_measured_are_assumed_not_to_contend() -> None:
    assert "The 4 threads do not contend: nobody measured “06-uprobe”" in assumed(forecast(threads=4))


def test_threads_that_were_measured_say_their_factor_and_which_number_stands_for_them() -> None:
    levels = [measured("many", Estimate(100.0 * n, 99.0 * n, 101.0 * n), level=str(n)) for n in (1, 2)]
    found = assumed(forecast(measured("06-uprobe", COST), *levels, threads=4))
    assert "With 2 threads that fire it at once, an event of “06-uprobe” costs 2.00" in found
    assert "2 stands for 4" in found


def test_a_thread_that_waits_is_said_to_pay_from_idle_time() -> None:
    assert "pays from its idle time first" in assumed(forecast(busy_ratio=0.4))


def test_without_an_interval_the_answer_says_what_one_takes() -> None:
    found = assumed(forecast(measured("06-uprobe", Estimate(11_000.0))))
    assert "The cost has no interval: that takes 6 blocks." in found


def test_several_probes_say_that_costs_add_and_that_nobody_checked() -> None:
    found = forecast(measured("06-uprobe", COST), measured("plain", COST), cases=("06-uprobe", "plain"))
    assert "The costs of several probes add. That was not checked on this machine." in assumed(found)


def test_what_was_checked_says_how_well_it_agreed() -> None:
    found = forecast(measured("06-uprobe", COST), measured("plain", COST), cases=("06-uprobe", "plain"))
    agreed = Agreement(count=4, holding=3, median_ratio=0.95, least_ratio=0.8, greatest_ratio=1.1)
    known = replace(tried(evidence(SUITES), found), combinations=(("several probes", agreed),))
    said = plain(" ".join(sentences.assumptions(found, known)))
    assert "they cost 0.950 times what was predicted (0.800 times to 1.10 times), and 3 of 4 agree" in said


def test_the_line_says_where_it_holds_and_what_was_measured_where_it_does_not() -> None:
    line = [
        RatePoint(100.0, Estimate(0.001, 0.0009, 0.0011), Estimate(0.001, 0.0009, 0.0011), holds=True),
        RatePoint(1e6, Estimate(8.0, 7.5, 8.5), Estimate(11.0, 10.6, 11.4), holds=False),
    ]
    said = plain(sentences.line_words(line))
    assert "from 100 events/s to 1.0 M events/s: it agrees with the slowdown measured at 1 of 2 rates." in said
    assert "Measured at 1.0 M events/s: 800 % (750 to 850), where rate × cost is 1 100 % (1 060 to 1 140)." in said


def test_comparable_machines_show_from_least_to_greatest() -> None:
    other = measured("06-uprobe", Estimate(20_000.0, 19_000.0, 21_000.0), machine="other")
    assert plain(sentences.span(answered(measured("06-uprobe", COST), other)) or "") == "55 % to 100 %"
    assert sentences.span(answered(measured("06-uprobe", COST))) is None
