"""What would cost less: which costs answer the same question, when one is offered, and in which words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.evidence_builder import MACHINE, case, evidence, measured, parts, suite
from probe_effect.answer.answers import Forecast, alternatives, forecast, ways
from probe_effect.answer.question import ProbeQuestion, Question
from probe_effect.answer.sentences import way
from probe_effect.model import Estimate
from probe_effect.numbers.rows import ADD_UP
from probe_effect.numbers.shown import facts_of_submission
from probe_effect.store.places import DataFolder
from probe_effect.store.suite_file import Case, read_suite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.costs.evidence import Evidence
    from probe_effect.costs.row import CostRow
    from probe_effect.numbers.shown import Facts
    from probe_effect.numbers.submission import Number

BUT = "It tells less."
ASKED = (MACHINE, "bpftrace", "01-asked")


def known(*costs: Number, **instead: Any) -> Evidence:  # noqa: ANN401
    """Evidence in which `01-asked` may be replaced by `02-other`, and costs from 990 to 1010 ns."""
    asked = case("01-asked", instead=[{"case": "02-other", "but": BUT} | instead])
    return evidence((suite("tiny", asked, case("02-other")),), cost("01-asked", 1000), *costs)


def cost(name: str, value: float, half: float = 10, **keys: Any) -> Number:  # noqa: ANN401
    return measured(name, Estimate(value, value - half, value + half), noise_floor_ns=1.0, **keys)


def own_facts(known: Sequence[CostRow]) -> Facts:
    return facts_of_submission(known[0].sources[0].submission)


def predicted(found: Evidence, threads: int = 1) -> Forecast:
    question = Question(probes=(ProbeQuestion("01-asked", 1e5),), threads=threads)
    asked = parts(found, question, MACHINE, "bpftrace")
    return forecast(asked, own_facts(asked), "bpftrace", question)


def names(found: Evidence) -> list[tuple[str, str]]:
    return [one.key[1:] for one in alternatives(found, ASKED)]


def test_a_case_that_the_suite_names_and_that_costs_less_is_offered_with_what_it_does_not_tell() -> None:
    (one,) = alternatives(known(cost("02-other", 100)), ASKED)
    assert (one.key, one.but, one.comparison.outcome) == ((MACHINE, "bpftrace", "02-other"), BUT, "lower")


@pytest.mark.parametrize("value", [990.0, 1000.0, 2000.0])
def test_what_no_interval_tells_apart_and_what_costs_more_is_not_offered(value: float) -> None:
    assert alternatives(known(cost("02-other", value)), ASKED) == []


def test_what_lies_within_the_noise_floor_is_not_offered() -> None:
    other = measured("02-other", Estimate(950, 949, 951), noise_floor_ns=60.0)
    assert alternatives(known(other), ASKED) == []


def test_another_machine_offers_nothing() -> None:
    assert alternatives(known(cost("02-other", 100, machine="another-machine")), ASKED) == []


def test_a_cost_that_may_be_none_has_no_alternative() -> None:
    found = known(cost("02-other", 100))
    unclear = measured("01-asked", Estimate(1000, 990, 1010), noise_floor_ns=2000.0)
    found.add(unclear)
    assert alternatives(found, ASKED) == []


def test_events_that_do_not_add_up_are_no_ground_for_an_alternative() -> None:
    assert alternatives(known(cost("02-other", 100, faults=(ADD_UP,))), ASKED) == []


def test_of_several_tracers_the_one_asked_about_stands_for_another_case() -> None:
    assert names(known(cost("02-other", 50, tracer="libbpf"), cost("02-other", 100))) == [("bpftrace", "02-other")]


def test_another_version_of_the_tool_comes_before_another_tool() -> None:
    found = known(cost("02-other", 50, tracer="libbpf"), cost("02-other", 100, tracer="bpftrace-0-23-2"))
    assert names(found) == [("bpftrace-0-23-2", "02-other")]


def test_only_the_tool_that_a_suite_names_answers_where_it_names_one() -> None:
    found = known(cost("02-other", 50), cost("02-other", 100, tracer="perf-stat"), tracer="perf-stat")
    assert names(found) == [("perf-stat", "02-other")]


def test_the_same_case_with_another_tool_is_offered_once_for_each_tool() -> None:
    found = known(
        cost("01-asked", 90, tracer="libbpf"),
        cost("01-asked", 80, tracer="perf-stat-6-1"),
        cost("01-asked", 70, tracer="perf-stat-6-2"),
    )
    assert names(found) == [("perf-stat-6-2", "01-asked"), ("libbpf", "01-asked")]


def test_the_tool_asked_about_comes_first_and_then_the_least_cost() -> None:
    found = known(cost("02-other", 500), cost("01-asked", 90, tracer="libbpf"), cost("01-asked", 80, tracer="strace"))
    assert names(found) == [("bpftrace", "02-other"), ("strace", "01-asked"), ("libbpf", "01-asked")]


def test_an_alternative_says_its_slowdown_and_cost_at_the_rate_and_that_it_ran_apart() -> None:
    found = known(cost("02-other", 100))
    (other,) = ways(found, predicted(found))
    name, figures, remarks = (text.replace("\u00a0", " ") for text in way(other))
    assert name == "“02-other” with bpftrace"
    assert figures == "1.00 % (0.90 to 1.10); 100 ns (90 to 110) an event."
    assert remarks == f"{BUT} Measured in another run."


def test_an_alternative_that_loses_events_says_so() -> None:
    found = known(cost("02-other", 100, loss_ratio=0.001, rate_hz=1e4))
    (other,) = ways(found, predicted(found))
    assert "it loses 90" in way(other)[2]


def test_several_probes_at_once_have_no_alternatives() -> None:
    found = known(cost("02-other", 100))
    question = Question(probes=(ProbeQuestion("01-asked", 1e5), ProbeQuestion("02-other", 1e5)))
    both = parts(found, question, MACHINE, "bpftrace")
    assert ways(found, forecast(both, own_facts(both), "bpftrace", question)) == []


def contended(factor: float) -> Evidence:
    """Evidence in which an event of `02-other` costs so many times as much with two threads."""
    found = known(cost("02-other", 100))
    like = case("03-threads", like="02-other")
    keys = {"name": "threads", "title": "-", "unit": "-", "levels": [1, 2], "occupies_cpus": True}
    levels = [cost("03-threads", 100 * by, 1, level=level) for level, by in (("1", 1.0), ("2", factor))]
    return evidence((*found.suites, suite("threads", like, factor=keys)), *found.costs.values(), *levels)


@pytest.mark.parametrize(("factor", "offered"), [(2.0, 1), (20.0, 0)])
def test_with_several_threads_only_what_still_costs_less_there_is_offered(factor: float, offered: int) -> None:
    found = contended(factor)
    assert len(ways(found, predicted(found))) == 1
    assert len(ways(found, predicted(found, threads=2))) == offered


def test_of_several_machines_only_what_each_of_them_finds_lower_is_offered() -> None:
    second = [cost("01-asked", 2000, machine="second"), cost("02-other", 2000, machine="second")]
    found = known(cost("02-other", 100), *second)
    one = predicted(found)
    assert len(ways(found, one)) == 1
    over = replace(one, parts=tuple(replace(part, machines=(MACHINE, "second")) for part in one.parts))
    assert ways(found, over) == []


SUITES = [read_suite(folder, folder.name)[0] for folder in DataFolder(Path(__file__).parents[2] / "data").suites()]
CASES = {one.id: one for suite in SUITES if suite is not None for one in suite.cases}


@pytest.mark.parametrize("asked", [pytest.param(one, id=one.id) for one in CASES.values() if one.instead])
def test_what_a_suite_names_instead_fires_as_often_and_is_another_case(asked: Case) -> None:
    others = [CASES[other.case] for other in asked.instead]
    assert asked.id not in {one.id for one in others}
    assert {one.events_per_operation for one in others} == {asked.events_per_operation}
    assert len({(other.case, other.tracer) for other in asked.instead}) == len(asked.instead)
