"""Which number is current: the newest that is sound, and where none is, the newest that says most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.number_builder import number, submission
from probe_effect.model import Estimate, Key
from probe_effect.numbers.index import Numbers, best, current, newest_first
from probe_effect.numbers.rows import ADD_UP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.model import Metric
    from probe_effect.numbers.submission import Number, Submission

COST = Estimate(50.0, 45.0, 55.0)
KPROBE = Key("02-kprobe", "bpftrace")

DAYS = ("2026-11-01T10:00:00Z", "2026-11-02T10:00:00Z", "2026-11-03T10:00:00Z")
"""Oldest first."""

KINDS = ("sound", "flagged", "failed")


def run(started: str, kind: str = "sound", machine: str = "m", metric: Metric = "time") -> Number:
    """The only number of a run that ended like this."""
    own = submission(machine, started, metric=metric)
    if kind == "failed":
        return number(own, None, note=f"the tool died on {started[:10]}")
    return number(own, COST, faults=(ADD_UP,) if kind == "flagged" else ())


def numbers(runs: Sequence[Number]) -> Numbers:
    return Numbers(one.submission for one in runs)


def current_of(*runs: Number) -> Number:
    (found,) = numbers(runs).of_machine("m").values()
    return found


# Which run stands for a machine


def test_the_newest_of_several_sound_runs_is_current() -> None:
    old, new = run(DAYS[0]), run(DAYS[1])
    assert current_of(old, new) is current_of(new, old) is new


@pytest.mark.parametrize("kind", ["flagged", "failed"])
def test_a_newer_run_that_is_not_sound_does_not_take_the_place_of_a_sound_one(kind: str) -> None:
    sound = run(DAYS[0])
    assert current_of(sound, run(DAYS[1], kind), run(DAYS[2], kind)) is sound


def test_where_no_run_is_sound_the_newest_with_a_cost_stands_with_its_flags() -> None:
    older, flagged, failed = run(DAYS[0], "flagged"), run(DAYS[1], "flagged"), run(DAYS[2], "failed")
    found = current_of(older, flagged, failed)
    assert found is flagged
    assert found.faults == (ADD_UP,)


def test_where_no_run_has_a_cost_the_newest_says_why() -> None:
    found = current_of(run(DAYS[0], "failed"), run(DAYS[1], "failed"))
    assert (found.cost, found.note) == (None, "the tool died on 2026-11-02")


@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=6))
def test_the_best_is_the_first_of_its_kind_and_no_better_kind_is_there(kinds: list[str]) -> None:
    runs = [run(DAYS[0], kind) for kind in kinds]
    place = runs.index(best(runs))
    assert kinds[place] == min(kinds, key=KINDS.index)
    assert kinds[place] not in kinds[:place]


def test_each_case_tracer_and_level_has_a_current_number_of_its_own() -> None:
    old, new = submission("m", DAYS[0]), submission("m", DAYS[1])
    kept = [
        number(old, COST, level="2"),
        number(old, COST, tracer="libbpf"),
        number(new, COST),
        number(new, COST, case="06-uprobe"),
    ]
    number(old, COST)
    found = Numbers([old, new])
    assert set(map(id, found.current())) == set(map(id, kept))
    assert list(found.of_machine("m")) == sorted((one.key for one in kept), key=lambda key: key.order)


def test_numbers_of_a_machine_stand_in_the_order_of_case_tracer_and_level() -> None:
    own = submission("m")
    for case, level in (("06-uprobe", None), ("02-kprobe", "10"), ("02-kprobe", "9"), ("02-kprobe", None)):
        number(own, COST, case=case, level=level)
    levels = [(key.case, key.level) for key in current([own])]
    assert levels == [("02-kprobe", "9"), ("02-kprobe", "10"), ("02-kprobe", None), ("06-uprobe", None)]


# Asking whether a number is current


def test_a_number_is_current_or_it_is_not() -> None:
    old, new, flagged = run(DAYS[0]), run(DAYS[1]), run(DAYS[2], "flagged")
    found = numbers([old, new, flagged])
    assert [found.is_current(one) for one in (old, new, flagged)] == [False, True, False]


def test_a_number_of_a_submission_that_is_not_in_force_is_never_current() -> None:
    withdrawn, other = run(DAYS[1]), run(DAYS[0], machine="other")
    assert not numbers([other]).is_current(withdrawn)
    assert not numbers([run(DAYS[0])]).is_current(withdrawn)


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from("mn"), st.sampled_from(DAYS)), max_size=8))
def test_exactly_one_number_of_each_machine_is_current(runs: list[tuple[str, str, str]]) -> None:
    made = [run(started, kind, machine) for kind, machine, started in runs]
    found = numbers(made)
    ours = [one for one in made if found.is_current(one)]
    assert sorted(one.submission.machine for one in ours) == sorted({machine for _, machine, _ in runs})
    assert set(map(id, ours)) == set(map(id, found.current()))


# Times and counts, machines, order


def test_times_and_counts_of_one_machine_are_kept_apart() -> None:
    time, count = run(DAYS[0]), run(DAYS[1], metric="instructions")
    found = numbers([time, count])
    assert (found.current("time"), found.current("instructions")) == ([time], [count])
    assert (found.of_case("02-kprobe"), found.of_case("02-kprobe", "instructions")) == ([time], [count])
    assert found.is_current(time)
    assert found.is_current(count)


def test_of_a_case_there_is_one_number_for_each_machine_and_the_machine_that_ran_last_comes_first() -> None:
    runs = [run(DAYS[0], machine="a"), run(DAYS[2], machine="b"), run(DAYS[1], machine="c")]
    found = numbers([*runs, run(DAYS[0], machine="b")])
    assert [one.submission.machine for one in found.of_case("02-kprobe")] == ["b", "c", "a"]
    assert list(found.machines()) == ["b", "c", "a"]


def test_what_nobody_measured_has_no_numbers() -> None:
    found = numbers([run(DAYS[0])])
    assert found.of_case("99-nothing") == []
    assert found.of_machine("nowhere") == {}
    assert Numbers([]).current() == []
    assert Numbers([]).machines() == {}


def test_submissions_of_one_moment_stand_in_the_order_of_their_ids() -> None:
    machines: list[Submission] = [submission(machine, DAYS[0]) for machine in ("b", "c", "a")]
    assert [one.machine for one in newest_first(machines)] == ["c", "b", "a"]
    assert newest_first(machines) == newest_first(reversed(machines))


def test_of_several_versions_of_one_tool_the_newest_comes_first_whatever_it_was_called() -> None:
    versions = {
        "bpftrace": "bpftrace v0.17.0",
        "bpftrace-0-9-4": "bpftrace v0.9.4",
        "bpftrace-0-27-1": "bpftrace v0.27.1",
    }
    own = submission("m", DAYS[0], document={"tools": versions | {"strace": "strace -- version 6.1"}})
    for tracer in ("bpftrace", "strace", "bpftrace-0-9-4", "bpftrace-0-27-1"):
        number(own, COST, tracer=tracer)
    assert [key.tracer for key in Numbers([own]).of_machine("m")] == [
        "bpftrace-0-27-1",
        "bpftrace",
        "bpftrace-0-9-4",
        "strace",
    ]
