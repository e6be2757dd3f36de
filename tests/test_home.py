"""Which machine stands for the whole, and which number where a page names no machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from number_builder import number, submission
from probe_effect.model import Estimate
from probe_effect.numbers.home import home_numbers, in_order, reference_submission
from probe_effect.numbers.index import Numbers
from probe_effect.reduce.rows import ADD_UP

if TYPE_CHECKING:
    from probe_effect.reduce.submission import Submission

COST = Estimate(50.0, 45.0, 55.0)
EARLY, LATE = "2026-11-01T10:00:00Z", "2026-11-02T10:00:00Z"


def run(
    machine: str, started: str = EARLY, suite: str = "per-event", grade: str = "B", noise_floor_ns: float = 1.0
) -> Submission:
    made = submission(machine, started, suite, grade=grade, noise_floor_ns=noise_floor_ns, baseline=Estimate(100.0))
    number(made, COST)
    return made


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param(run("a", grade="D"), run("b", suite="other", grade="A"), id="of the first suite"),
        pytest.param(run("a", grade="A", noise_floor_ns=9), run("b", LATE), id="then better graded"),
        pytest.param(run("a"), run("b", LATE, noise_floor_ns=2), id="then with less noise"),
        pytest.param(run("a", LATE), run("b"), id="then newer"),
    ],
)
def test_the_reference_is_of_the_first_suite_then_better_graded_then_with_less_noise_then_newer(
    better: Submission, worse: Submission
) -> None:
    assert reference_submission(Numbers([worse, better])) is better
    assert reference_submission(Numbers([better, worse])) is better


def test_a_submission_in_which_nothing_was_measured_stands_for_nothing() -> None:
    empty = submission("a", suite="per-event", grade="A")
    number(empty, None)
    measured = run("b", grade="D")
    assert reference_submission(Numbers([empty, measured])) is measured
    assert reference_submission(Numbers([empty])) is None


def test_counts_are_no_reference() -> None:
    counted = submission("a", suite="per-event", metric="instructions", grade=None)
    number(counted, COST)
    assert reference_submission(Numbers([counted])) is None
    assert home_numbers(Numbers([counted])) == {}


def test_submissions_of_the_home_machine_come_first_each_machine_newest_first() -> None:
    home, home_later = run("home", grade="A"), run("home", LATE, "other")
    other = run("other", LATE)
    assert in_order(Numbers([other, home, home_later])) == [home_later, home, other]


def test_the_number_of_the_home_machine_stands_for_its_name_where_it_is_sound() -> None:
    home, later = run("home", grade="A"), run("later", LATE)
    number(home, COST, case="03-kretprobe", faults=(ADD_UP,))
    number(later, COST, case="03-kretprobe")
    number(later, None, case="04-tracepoint")
    found = home_numbers(Numbers([home, later]))
    assert {name: one.submission.machine for name, one in found.items()} == {
        "bpftrace.02-kprobe": "home",
        "bpftrace.03-kretprobe": "later",
    }


def test_levels_have_names_of_their_own() -> None:
    home = run("home")
    number(home, COST, level="2")
    assert list(home_numbers(Numbers([home]))) == ["bpftrace.02-kprobe@2", "bpftrace.02-kprobe"]
