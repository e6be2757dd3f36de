"""Grades: which facts keep a submission from a better one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from probe_effect.guidance.grades import ENOUGH_BLOCKS, RULES, Facts, grade
from probe_effect.stats.signed_rank import MIN_BLOCKS

BEST = Facts(
    blocks=ENOUGH_BLOCKS, virtualization=None, nested=None, baseline_ns=100.0, noise_floor_ns=2.0, unreconciled=0
)


def test_a_quiet_physical_machine_with_enough_blocks_is_graded_a_without_reasons() -> None:
    assert grade(BEST) == ("A", ())


@pytest.mark.parametrize(
    ("facts", "letter", "words"),
    [
        pytest.param(replace(BEST, blocks=ENOUGH_BLOCKS - 1), "B", "fewer than 20 blocks", id="few blocks"),
        pytest.param(replace(BEST, virtualization="kvm"), "B", "virtual", id="virtual"),
        pytest.param(replace(BEST, noise_floor_ns=2.1), "C", "noise floor", id="noisy"),
        pytest.param(replace(BEST, nested=True, virtualization="kvm"), "C", "nested", id="nested"),
        pytest.param(replace(BEST, unreconciled=1), "D", "do not add up", id="unreconciled"),
        pytest.param(replace(BEST, blocks=MIN_BLOCKS - 1), "D", "no interval", id="no interval"),
    ],
)
def test_each_fact_caps_the_grade_and_gives_its_reason(facts: Facts, letter: str, words: str) -> None:
    found, reasons = grade(facts)
    assert found == letter
    assert any(words in reason for reason in reasons)


def test_the_worst_fact_decides_and_every_reason_is_told() -> None:
    letter, reasons = grade(replace(BEST, virtualization="kvm", unreconciled=3, noise_floor_ns=50.0))
    assert letter == "D"
    assert len(reasons) == 3


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(replace(BEST, nested=None), id="not known whether nested"),
        pytest.param(replace(BEST, nested=False), id="not nested"),
        pytest.param(replace(BEST, noise_floor_ns=None), id="no floor"),
        pytest.param(replace(BEST, baseline_ns=None), id="no baseline"),
        pytest.param(replace(BEST, baseline_ns=0.0), id="baseline of 0"),
    ],
)
def test_what_is_not_known_is_not_held_against_a_machine(facts: Facts) -> None:
    assert grade(facts)[0] == "A"


def test_every_rule_has_a_reason_in_words() -> None:
    assert all(len(rule.reason.split()) >= 3 for rule in RULES)
