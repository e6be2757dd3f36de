"""Which costs guidance may use."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from helpers.builders import COST_NS, MACHINE, REAL_DATA, changed, machine_values, write_submission
from helpers.evidence_builder import measured, rows_of
from probe_effect.costs import from_counts
from probe_effect.costs.evidence import Evidence, evidence_of
from probe_effect.costs.from_counts import models
from probe_effect.model import Estimate
from probe_effect.numbers import catalogue
from probe_effect.numbers.catalogue import read_catalogue, read_numbers
from probe_effect.store.kept import Kept
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Sample
    from probe_effect.numbers.submission import Number, Submission


def found(data: Path) -> Evidence:
    return evidence_of(read_catalogue(DataFolder(data)))


def submit(data: Path, rows: list[Sample], suite: str = "per-event") -> None:
    """A later submission of a suite."""
    folder = write_submission(data, rows, folder=f"2026-11-22-{suite}")
    values = changed(changed(machine_values(), "run.started", "2026-11-22T10:00:00Z"), "run.suite", suite)
    (folder / "machine.json").write_text(json.dumps(values), encoding="utf-8")


def test_the_newest_measurement_of_a_case_counts(data: Path) -> None:
    submit(data, rows_of("02-kprobe", 70))
    assert found(data).costs[MACHINE, "bpftrace", "02-kprobe"].known_cost.value == pytest.approx(70)


def test_a_newer_measurement_whose_events_do_not_add_up_does_not_take_the_place_of_a_sound_one(data: Path) -> None:
    submit(data, rows_of("02-kprobe", 70, seen=10))
    assert found(data).costs[MACHINE, "bpftrace", "02-kprobe"].known_cost.value == pytest.approx(COST_NS)


def test_a_measurement_whose_events_do_not_add_up_is_refused_where_none_is_sound(data: Path) -> None:
    submit(data, rows_of("03-kretprobe", 70, seen=10))
    known = found(data)
    assert (MACHINE, "bpftrace", "03-kretprobe") not in known.costs
    assert known.refused[MACHINE, "bpftrace", "03-kretprobe"] == "its events do not add up"


def test_a_case_that_was_skipped_says_why(data: Path) -> None:
    assert found(data).refused[MACHINE, "bpftrace", "06-uprobe"] == "skipped: this kernel has no uprobes"


def test_a_suite_of_starts_and_stops_gives_no_costs(data: Path) -> None:
    (data / "suites" / "startup").symlink_to(REAL_DATA / "suites" / "startup")
    submit(data, rows_of("02-one-probe"), "startup")
    known = found(data)
    assert known.refused[MACHINE, "bpftrace", "02-one-probe"] == "its suite measures starting and stopping, not costs"


def test_costs_at_levels_stand_apart(data: Path) -> None:
    submit(data, rows_of("04-tracepoint-entry", 70, level="2"))
    known = found(data)
    assert set(known.by_level[MACHINE, "bpftrace", "04-tracepoint-entry"]) == {"2"}
    assert (MACHINE, "bpftrace", "04-tracepoint-entry") not in known.costs


def everything(known: Evidence) -> list[object]:
    in_order = (known.costs, known.by_level, known.refused)
    return [known.machines, known.tracers, known.keys, *(list(some.items()) for some in in_order)]


def test_what_was_asked_for_case_by_case_is_the_same_as_all_at_once(real_data: DataFolder) -> None:
    numbers, at_once = read_numbers(real_data), read_numbers(real_data)
    known = evidence_of(numbers)
    for machine, tracer, case in reversed(known.keys):
        assert known.costs[machine, tracer, case].is_sound
        known.counts_of(case)
        known.levels_of(case)
    assert str(everything(known)) == str(everything(evidence_of(at_once)))
    counts = {case: len(evidence_of(at_once).counts_of(case)) for case in known.counts}
    assert {case: len(some) for case, some in known.counts.items()} == counts
    assert sorted(known.keys) == sorted(known.costs)


def test_asking_for_a_case_takes_up_no_number_of_another(
    real_data: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, unpacked = set(), catalogue._number
    read_numbers(real_data)  # which are kept from now on

    def recorded(own: Submission, values: dict[str, Any]) -> Number:
        number = unpacked(own, values)
        made.add(number.case)
        return number

    monkeypatch.setattr(catalogue, "_number", recorded)
    known = evidence_of(read_numbers(real_data))
    machine, tracer, case = known.keys[0]
    assert known.costs[machine, tracer, case].case == case
    assert made == {case}


def test_models_are_fitted_once_and_again_where_a_submission_is_withdrawn(
    real_data: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers, kept, fit = read_numbers(real_data), Kept(tmp_path), from_counts._fitted_to
    fitted: list[Evidence] = []

    def recorded(found: Evidence) -> bytes:
        fitted.append(found)
        return fit(found)

    monkeypatch.setattr(from_counts, "_fitted_to", recorded)
    first, again = (evidence_of(replace(numbers, kept=kept)) for _ in range(2))
    assert models(first).by_machine == models(again).by_machine
    assert fitted == [first]
    fewer = evidence_of(replace(numbers, kept=kept, active=numbers.active[1:]))
    assert models(fewer).ratios
    assert fitted == [first, fewer]


def test_tracers_with_most_cases_come_first() -> None:
    known = Evidence(())
    for case, tracer in (("a", "strace"), ("a", "perf"), ("b", "perf")):
        known.add(measured(case, Estimate(5.0), tracer=tracer))
    assert known.tracers == ["perf", "strace"]
    assert known.machines == [MACHINE]


@pytest.mark.parametrize(
    ("cost", "bounded"),
    [
        (Estimate(50.0, 40.0, 60.0), Estimate(50.0, 40.0, 60.0)),
        (Estimate(1.0, -2.0, 3.0), Estimate(1.0, -2.0, 4.0)),
        (Estimate(1.0, -2.0, 5.0), Estimate(1.0, -2.0, 5.0)),
        (Estimate(1.0), Estimate(1.0)),
    ],
)
def test_noise_may_be_a_cost_up_to_the_noise_floor(cost: Estimate, bounded: Estimate) -> None:
    assert measured("a", cost, noise_floor_ns=4.0).bounded_cost == bounded


def test_a_case_without_a_grade_of_its_own_has_that_of_its_submission() -> None:
    assert measured("a", Estimate(5.0)).trust == ("B", ("fewer than 20 blocks",))
    assert measured("a", Estimate(5.0), grade="C", grade_reasons=("lost",)).trust == ("C", ("lost",))
