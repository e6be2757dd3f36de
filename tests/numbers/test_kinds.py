"""Which machines a page shows: the home machine, then one of each kind, and never more than a table can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from helpers.number_builder import number, submission
from probe_effect.model import Estimate
from probe_effect.numbers.index import Numbers
from probe_effect.numbers.shown import MOST_MACHINES, select, shown, shown_machines

if TYPE_CHECKING:
    from probe_effect.numbers.submission import Submission

COST = Estimate(50.0, 45.0, 55.0)
EPYC, XEON, ARM = "AMD EPYC 7763 64-Core Processor", "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz", "Neoverse-N1"


def machine(
    name: str,
    cpu: str = EPYC,
    *,
    grade: str = "B",
    day: int = 1,
    architecture: str = "x86_64",
    virtual: str | None = None,
    suite: str = "tiny",
    measured: str = "02-kprobe",
) -> Submission:
    """The only submission of a machine, with one number."""
    facts = {"cpu_model": cpu, "architecture": architecture, "virtualization": virtual, "nested": virtual and False}
    document = {f"machine__{key}": value for key, value in facts.items()}
    judged: dict[str, Any] = {"grade": grade, "noise_floor_ns": 1.0, "baseline": Estimate(100.0)}
    made = submission(name, f"2026-11-{day:02d}T10:00:00Z", suite, document, **judged)
    number(made, COST, measured)
    return made


def chosen(*submissions: Submission, most: int = MOST_MACHINES) -> list[str]:
    return shown_machines(Numbers(submissions), most)


def many(count: int, prefix: str = "m") -> list[Submission]:
    return [machine(f"{prefix}{place:02d}", day=1 + place % 28) for place in range(count)]


def test_few_machines_are_all_shown_the_one_that_ran_last_first() -> None:
    assert chosen(*many(MOST_MACHINES)) == [f"m{place:02d}" for place in reversed(range(MOST_MACHINES))]


def test_of_many_only_so_many_are_shown() -> None:
    assert len(chosen(*many(40))) == MOST_MACHINES


def test_the_home_machine_comes_first_whatever_its_kind() -> None:
    home = machine("home", XEON, grade="C", suite="per-event")
    assert chosen(home, *many(40))[0] == chosen(home, *many(2))[0] == "home"


def test_each_kind_is_shown_before_a_second_machine_of_any() -> None:
    others = [
        machine("xeon", XEON, grade="D"),
        machine("arm", ARM, grade="D", architecture="aarch64"),
        machine("guest", grade="D", virtual="kvm"),
    ]
    found = chosen(*many(40), *others, most=4)
    assert set(found[1:]) == {"xeon", "arm", "guest"}


def test_of_a_kind_the_best_graded_is_shown_and_of_equals_the_one_that_ran_last() -> None:
    crowd = [machine(f"d{place}", grade="D", day=20) for place in range(5)]
    xeons = [machine("old", XEON, day=1), machine("new", XEON, day=2), machine("worse", XEON, grade="C", day=3)]
    home = machine("home", suite="per-event")
    assert chosen(home, *crowd, *xeons, most=2) == ["home", "new"]


def test_another_model_of_a_cpu_is_no_kind_of_its_own() -> None:
    models = [machine(f"m{place}", f"AMD EPYC 7{place}63 64-Core Processor", day=20) for place in range(4)]
    assert "xeon" in chosen(*models, machine("xeon", XEON, grade="D"), most=2)


@given(st.lists(st.sampled_from([EPYC, XEON, ARM]), max_size=20), st.integers(1, 15))
def test_as_many_are_shown_as_there_are_and_never_more_than_asked_for(cpus: list[str], most: int) -> None:
    every = {f"m{place}": [machine(f"m{place}", cpu)] for place, cpu in enumerate(cpus)}
    found = select(every, None, most)
    assert len(found) == len(set(found)) == min(most, len(every))
    assert set(found) <= set(every)
    shown_cpus = {cpus[int(one[1:])] for one in found}
    assert len(shown_cpus) == min(len(found), len(set(cpus)))


# Numbers of a case


def test_of_a_case_all_numbers_are_shown_where_the_machines_are_few() -> None:
    made = many(3)
    numbers = Numbers(made)
    assert shown(numbers.of_case("02-kprobe"), numbers) == (numbers.of_case("02-kprobe"), 0)


def test_of_a_case_on_many_machines_some_are_left_out_and_counted() -> None:
    made = many(40)
    for one in made:
        number(one, COST, tracer="libbpf")
    numbers = Numbers(made)
    found, left_out = shown(numbers.of_case("02-kprobe"), numbers)
    assert left_out == 40 - MOST_MACHINES
    assert len(found) == 2 * MOST_MACHINES
    assert [one for one in numbers.of_case("02-kprobe") if one in found] == found
    assert len({one.submission.machine for one in found}) == MOST_MACHINES


def test_a_home_machine_without_the_case_takes_nobodys_place() -> None:
    home = machine("home", suite="per-event", measured="06-uprobe")
    numbers = Numbers([home, *many(40)])
    found, left_out = shown(numbers.of_case("02-kprobe"), numbers)
    assert (len(found), left_out) == (MOST_MACHINES, 40 - MOST_MACHINES)
