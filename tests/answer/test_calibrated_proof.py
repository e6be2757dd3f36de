"""Does a cost hold that was measured in a loop on the same machine? Programs beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers.evidence_builder import TRACER, case, evidence, measured, suite
from probe_effect.answer.proof import calibrated_pairs, times_of_others
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
from probe_effect.site.pages import proof
from probe_effect.store.result_tables import ProbeCalibration

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from probe_effect.costs.evidence import Evidence
    from probe_effect.numbers.submission import Number
    from probe_effect.store.suite_file import Suite

PROGRAMS = [f"program-{place}" for place in range(24)]
SLOW = Estimate(0.1, 0.09, 0.11)
READS = "t:syscalls:sys_enter_read { @ = count() }"
SINGLE = suite("single", case("03-entry", "tracepoint-entry", "count"))
ENTRY, RETURN = "tracepoint:syscalls:sys_enter_read", "tracepoint:syscalls:sys_exit_read"


def scripts(counted_by: str = "maps") -> Suite:
    return suite(
        "scripts",
        case("01-script", "tracepoint-entry", "count", counted_by=counted_by),
        case("02-calls", "tracepoint-entry", "count"),
        factor={"name": "program", "title": "-", "unit": "-", "levels": PROGRAMS},
        workload={"program": "loop.c", "operation": "-", "system_calls": "02-calls"},
    )


def traced(
    *rows: tuple[str, float], level: str = PROGRAMS[0], slowdown: Estimate = SLOW, every_ns: float = 1e4
) -> Number:
    """A script over a program; `rows` are its probes with what each costs in a loop, other system calls paying 40."""
    one = measured("01-script", Estimate(1200.0), level=level, baseline=Estimate(every_ns), slowdown=slowdown)
    found = tuple(
        ProbeCalibration(
            "01-script", TRACER, None, probe, None, Estimate(ns, ns - 5, ns + 5), Estimate(40.0, 38.0, 42.0)
        )
        for probe, ns in rows
    )
    vars(one.submission)["calibration"] = {found[0].key: found} if found else {}  # as if its file had been read
    return one


def all_calls(every_ns: float) -> Number:
    return measured("02-calls", Estimate(1.0), level=PROGRAMS[0], baseline=Estimate(every_ns), slowdown=SLOW)


def known(folder: Path, text: str, *numbers: Number, counted_by: str = "maps") -> Evidence:
    (folder / "01-script.bt").write_text(text, encoding="utf-8")
    found = evidence((scripts(counted_by), SINGLE), *numbers)
    found.folders = {"scripts": folder}
    return found


def predicted_ns(folder: Path, text: str, *numbers: Number, counted_by: str = "maps") -> float:
    (one,) = calibrated_pairs(known(folder, text, *numbers, counted_by=counted_by))
    return one.point.predicted.value * 1e4


def test_a_program_is_set_beside_the_cost_of_its_script_in_the_loop(tmp_path: Path) -> None:
    (one,) = calibrated_pairs(known(tmp_path, READS, traced((ENTRY, 800))))
    assert one.point.predicted.value == pytest.approx(800 / 1e4)
    assert one.ratio == pytest.approx(1.25)


def test_each_other_system_call_of_the_program_takes_longer(tmp_path: Path) -> None:
    ten_for_each_event = all_calls(1e3)
    assert predicted_ns(tmp_path, READS, traced((ENTRY, 800)), ten_for_each_event) == pytest.approx(800 + 9 * 40)


def test_of_a_probe_on_all_calls_every_call_is_an_event(tmp_path: Path) -> None:
    text, one = "t:syscalls:sys_enter_* { @ = count() }", traced(("tracepoint:syscalls:sys_enter_*", 800))
    assert predicted_ns(tmp_path, text, one, all_calls(1e4)) == pytest.approx(800)


def test_both_ends_of_a_call_have_its_longer_way_once(tmp_path: Path) -> None:
    text = "t:syscalls:sys_enter_read { @s[tid] = nsecs } t:syscalls:sys_exit_read { @ = hist(nsecs - @s[tid]) }"
    one = traced((ENTRY, 300), (RETURN, 300))
    assert predicted_ns(tmp_path, text, one, all_calls(1e3)) == pytest.approx(600 + 9 * 40)


def test_where_lines_are_counted_a_probe_that_prints_none_fires_for_each(tmp_path: Path) -> None:
    text = 't:syscalls:sys_enter_read { @a[tid] = 1 } t:syscalls:sys_exit_read { printf("%d", pid) }'
    one = traced((ENTRY, 300), (RETURN, 900))
    assert predicted_ns(tmp_path, text, one) == pytest.approx(600)
    assert predicted_ns(tmp_path, text, one, counted_by="lines") == pytest.approx(1200)


def test_a_script_without_a_calibration_or_with_one_of_half_its_probes_is_no_pair(tmp_path: Path) -> None:
    assert calibrated_pairs(known(tmp_path, READS, traced())) == []
    assert calibrated_pairs(known(tmp_path, READS + " t:sched:sched_switch { @ = count() }", traced((ENTRY, 1)))) == []


def many(ratio: float, other_ratio: float) -> list[Number]:
    """Every program, slowed by so many times what its script's cost predicts: every second one by the other."""
    return [
        traced((ENTRY, 1000), level=level, slowdown=Estimate(value, value - 0.01, value + 0.01))
        for place, level in enumerate(PROGRAMS)
        for value in [0.1 * (other_ratio if place % 2 else ratio) + place / 1e6]
    ]


def test_how_far_the_costs_of_other_machines_are_is_known_from_programs_beside_the_loop(tmp_path: Path) -> None:
    elsewhere = [measured("03-entry", Estimate(ns, ns - 5, ns + 5), machine=f"m{ns}") for ns in (500, 2000)]
    found = times_of_others(known(tmp_path, READS, *many(1.5, 1.2), *elsewhere))
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.5, 2.0))
    assert times_of_others(known(tmp_path, READS, *many(1.5, 1.2))) is None


# The page


def page(folder: Path, made: Sequence[Number]) -> str:
    (folder / "01-script.bt").write_text(READS, encoding="utf-8")
    catalogue = Catalogue(suites=(SuiteFolder(folder, scripts()),), active=tuple(one.submission for one in made))
    return proof.write(catalogue)["calibrated-hold.md"]


def test_the_page_shows_both_ways_and_the_pairs(tmp_path: Path) -> None:
    text = page(tmp_path, many(1.5, 1.2))
    assert "timed in a loop just before it ran over 24 programs" in text
    assert "| a loop before the run, all pairs | 24 | 24 |" in text
    assert text.count("/01-script/bpftrace/program-") == len(PROGRAMS)


def test_a_slowdown_that_is_not_clear_has_no_row(tmp_path: Path) -> None:
    *clear, last = many(1.5, 1.2)
    unclear = traced((ENTRY, 1000), level=last.level or "", slowdown=Estimate(0.001, -0.01, 0.012))
    assert page(tmp_path, [*clear, unclear]).count("/01-script/bpftrace/program-") == len(clear)


def test_without_any_calibration_the_page_says_so(tmp_path: Path) -> None:
    text = page(tmp_path, [traced(slowdown=SLOW)])
    assert text.strip().startswith("No machine has timed scripts in a loop")
    assert "|" not in text
