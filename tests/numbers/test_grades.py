"""Grades: which facts keep a submission, or a case, from a better one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from probe_effect.numbers.estimates import MIN_BLOCKS
from probe_effect.numbers.submission import BEST, OF_CASE, OF_SUBMISSION, GradeFacts, GradeRule, grade, worst

if TYPE_CHECKING:
    from collections.abc import Sequence

QUIET: GradeFacts = {
    "blocks": 30,
    "unreconciled_ratio": 0.0,
    "drift_within_ratio": 0.0,
    "steal_ratio": 0.0,
    "load_ratio": 0.1,
}
CLEAR: GradeFacts = {
    "blocks": 30,
    "unreconciled": 0,
    "uncounted": 0,
    "loss_ratio": 0.0,
    "width_ratio": 0.02,
    "floor_to_cost_ratio": 0.01,
    "bad_ratio": 0.0,
}
GROUPS = [pytest.param(OF_SUBMISSION, QUIET, id="submission"), pytest.param(OF_CASE, CLEAR, id="case")]
EACH = [
    pytest.param(rules, facts, rule, id=f"{name}: {rule.cap} for {rule.fact}")
    for name, rules, facts in (("submission", OF_SUBMISSION, QUIET), ("case", OF_CASE, CLEAR))
    for rule in rules
]


@pytest.mark.parametrize(("rules", "facts"), GROUPS)
def test_nothing_against_it_is_graded_a_without_reasons(rules: Sequence[GradeRule], facts: GradeFacts) -> None:
    assert grade(rules, facts) == (BEST, ())


@pytest.mark.parametrize(("rules", "facts", "rule"), EACH)
def test_each_rule_caps_the_grade_just_beyond_its_limit_and_says_why(
    rules: Sequence[GradeRule], facts: GradeFacts, rule: GradeRule
) -> None:
    limit = rule.below if rule.above is None else rule.above
    assert limit is not None
    beyond = limit - 1e-6 if rule.above is None else limit + 1e-6
    assert rule.words not in grade(rules, facts | {rule.fact: limit})[1]
    letter, reasons = grade(rules, facts | {rule.fact: beyond})
    assert (letter, reasons) == (rule.cap, (rule.words,))


@pytest.mark.parametrize(("rules", "facts", "rule"), EACH)
def test_what_is_not_known_is_not_held_against_it(
    rules: Sequence[GradeRule], facts: GradeFacts, rule: GradeRule
) -> None:
    assert grade(rules, facts | {rule.fact: None})[0] == BEST


def test_the_worst_fact_decides_and_every_reason_is_told_worst_first() -> None:
    letter, reasons = grade(OF_SUBMISSION, QUIET | {"steal_ratio": 0.2, "drift_within_ratio": 0.1, "blocks": 3})
    assert letter == "D"
    assert reasons == (
        "fewer than 6 blocks: no interval",
        "the machine's speed drifted inside blocks, by more than 2\u00a0%",
        "the hypervisor took more than 1\u00a0% of the workload's CPU",
    )


def test_of_two_limits_on_one_fact_only_the_worse_one_speaks() -> None:
    letter, reasons = grade(OF_CASE, CLEAR | {"width_ratio": 0.3})
    assert letter == "C"
    assert [reason for reason in reasons if "reaches" in reason] == [
        "its interval reaches further than 25\u00a0% of the cost to each side"
    ]


@pytest.mark.parametrize(("grades", "found"), [(["A", "C", "B"], "C"), (["A"], "A"), ([], "A")])
def test_the_worst_of_grades_counts(grades: list[str], found: str) -> None:
    assert worst(grades) == found


@pytest.mark.parametrize("rules", [OF_SUBMISSION, OF_CASE])
def test_rules_stand_worst_first_with_one_limit_each(rules: Sequence[GradeRule]) -> None:
    assert [rule.cap for rule in rules] == sorted((rule.cap for rule in rules), reverse=True)
    assert (rules[0].fact, rules[0].below) == ("blocks", MIN_BLOCKS)
    assert all((rule.below is None) != (rule.above is None) for rule in rules)
    assert all(len(rule.words.split()) >= 3 and "{" not in rule.words for rule in rules)
