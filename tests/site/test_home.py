"""Which machine stands for the whole, and which number where a page names no machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from helpers.number_builder import number, submission
from probe_effect.model import Estimate
from probe_effect.numbers.index import Numbers
from probe_effect.numbers.rows import ADD_UP
from probe_effect.numbers.shown import distances, home_machine, home_numbers, in_order, reference_submission
from probe_effect.numbers.submission import OF_SUBMISSION
from probe_effect.store.machine_file import KVM_GUEST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probe_effect.numbers.submission import Submission

COST = Estimate(50.0, 45.0, 55.0)
BASELINE = Estimate(100.0)
EARLY, LATE = "2026-11-01T10:00:00Z", "2026-11-02T10:00:00Z"


def run(
    machine: str,
    started: str = EARLY,
    suite: str = "per-event",
    *,
    grade: str = "B",
    noise_floor_ns: float = 1.0,
    rules: Sequence[str] = (),
    blocks: int = 20,
    document: Mapping[str, object] | None = None,
) -> Submission:
    reasons = tuple(rule.words for rule in OF_SUBMISSION if rule.fact in rules)
    judged: dict[str, Any] = {"grade": grade, "grade_reasons": reasons, "noise_floor_ns": noise_floor_ns}
    made = submission(machine, started, suite, document, baseline=BASELINE, **judged)
    number(made, COST, blocks=blocks)
    return made


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param(run("a", grade="D"), run("b", suite="other", grade="A"), id="of the first suite"),
        pytest.param(run("a", grade="C", noise_floor_ns=9), run("b", LATE, grade="D"), id="then with intervals"),
        pytest.param(
            run("a", noise_floor_ns=9, rules=["nested"]), run("b", LATE, rules=["load_ratio"]), id="then idle"
        ),
        pytest.param(run("a", noise_floor_ns=9), run("hosted-b", LATE), id="then no hosted runner"),
        pytest.param(run("a", grade="C"), run("b", LATE, noise_floor_ns=2, grade="A"), id="then with less noise"),
        pytest.param(run("a"), run("b", LATE, blocks=12), id="then with more blocks"),
        pytest.param(run("a", LATE), run("b"), id="then newer"),
    ],
)
def test_the_reference_is_of_the_first_suite_and_of_these_the_least_disturbed(
    better: Submission, worse: Submission
) -> None:
    assert reference_submission(Numbers([worse, better])) is better
    assert reference_submission(Numbers([better, worse])) is better


def test_a_guest_that_we_booted_stands_for_nothing_beside_a_machine_that_was_idle() -> None:
    other = run("a", noise_floor_ns=9, rules=["nested", "virtual"])
    booted = run("b", LATE, rules=["virtual"], document={"machine__virtualization": KVM_GUEST})
    assert reference_submission(Numbers([booted, other])) is other
    assert reference_submission(Numbers([booted])) is booted


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


def costing(machine: str, *costs_ns: float, noise_floor_ns: float = 1.0) -> Submission:
    """A run of the first suite that measured some cases, each of which costs so much."""
    made = submission(machine, suite="per-event", noise_floor_ns=noise_floor_ns)
    for place, cost_ns in enumerate(costs_ns):
        number(made, Estimate(cost_ns, cost_ns, cost_ns), case=f"{place:02d}-case")
    return made


def test_the_home_machine_is_the_one_whose_costs_are_nearest_to_the_median_of_all() -> None:
    cheap, typical, expensive = costing("cheap", 10, 20), costing("typical", 40, 90), costing("expensive", 200, 80)
    numbers = Numbers([cheap, typical, expensive])
    assert home_machine(numbers) == "typical"
    found = distances(numbers)
    assert list(found) == ["typical", "expensive", "cheap"]
    assert found["cheap"].factor == pytest.approx(4.0)  # a quarter of the median in both cases
    assert {one.cases for one in found.values()} == {2}


def test_a_machine_with_few_of_the_shared_cases_is_not_the_home_machine() -> None:
    whole = [costing(name, 10 * place, 20 * place, 30 * place) for place, name in enumerate("abc", start=1)]
    assert home_machine(Numbers([*whole, costing("few", 20)])) == "b"


def test_of_two_machines_none_is_more_typical_and_the_one_with_less_noise_is_the_home_machine() -> None:
    numbers = Numbers([costing("noisy", 10, noise_floor_ns=5.0), costing("quiet", 90, noise_floor_ns=0.5)])
    assert (home_machine(numbers), distances(numbers)) == ("quiet", {})


def test_submissions_of_the_home_machine_come_first_each_machine_newest_first() -> None:
    home, home_later = run("home", noise_floor_ns=0.5), run("home", LATE, "other")
    other = run("other", LATE)
    assert in_order(Numbers([other, home, home_later])) == [home_later, home, other]


def test_the_number_of_the_home_machine_stands_for_its_name_where_it_is_sound() -> None:
    home, later = run("home", noise_floor_ns=0.5), run("later", LATE)
    number(home, COST, case="03-kretprobe", faults=(ADD_UP,))
    number(later, COST, case="03-kretprobe")
    number(later, None, case="04-tracepoint")
    found = home_numbers(Numbers([home, later]))
    assert {name: one.submission.machine for name, one in found.items()} == {
        "bpftrace.02-kprobe": "home",
        "bpftrace.03-kretprobe": "later",
    }


def test_a_suite_that_the_home_machine_lacks_is_shown_from_the_machine_that_has_most_of_it() -> None:
    home, whole, part = run("home"), run("whole", suite="threads"), run("part", LATE, "threads")
    number(whole, COST, case="03-kretprobe")
    number(whole, COST, case="05-fentry")
    number(part, COST, case="05-fentry")
    found = home_numbers(Numbers([home, whole, part]))
    assert {one.submission.machine for name, one in found.items() if name != "bpftrace.02-kprobe"} == {"whole"}


def test_levels_have_names_of_their_own() -> None:
    home = run("home")
    number(home, COST, level="2")
    assert list(home_numbers(Numbers([home]))) == ["bpftrace.02-kprobe@2", "bpftrace.02-kprobe"]
