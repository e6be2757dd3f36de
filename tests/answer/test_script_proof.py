"""Does the answer that is made of a script's text hold? Scripts over real programs beside what their text predicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers.evidence_builder import case, evidence, measured, suite
from probe_effect.answer.proof import order
from probe_effect.answer.spread import program_pairs
from probe_effect.model import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from probe_effect.answer.proof import ProgramPair
    from probe_effect.numbers.submission import Number

FACTOR = {"name": "program", "title": "-", "unit": "-", "levels": ["tar", "git"]}
LOOP = suite(
    "loop",
    case("entry", "tracepoint-entry", silent="silent"),
    case("entry-count", "tracepoint-entry", "count", silent="silent"),
    case("entry-key", "tracepoint-entry", "count-by-pid", silent="silent"),
    case("entry-histogram", "tracepoint-entry", "histogram", silent="silent"),
    case("return", "tracepoint-return", silent="silent"),
    case("silent", "silent-tracepoint", counted_by="nothing"),
    workload={"program": "loop.c", "operation": "-", "system_calls": 2},
)
COSTS_NS = {"entry": 200, "entry-count": 220, "entry-key": 240, "entry-histogram": 260, "return": 180, "silent": 80}
SCRIPTS = suite(
    "scripts",
    case("01-script", "tracepoint-entry", "count", silent="silent"),
    case("02-calls", "tracepoint-entry", "count"),
    factor=FACTOR,
    workload={"program": "loop.c", "operation": "-", "system_calls": "02-calls"},
)
SLOW = Estimate(0.01, 0.009, 0.011)


def traced(name: str = "01-script", every_ns: float = 1e5, slowdown: Estimate = SLOW, level: str = "tar") -> Number:
    return measured(name, Estimate(1200.0), level=level, baseline=Estimate(every_ns), slowdown=slowdown)


def predicted(folder: Path, text: str, *numbers: Number) -> Sequence[ProgramPair]:
    (folder / "01-script.tar.bt").write_text(text)
    (folder / "01-script.git.bt").write_text(text)
    costs = [measured(name, Estimate(ns, ns - 5.0, ns + 5.0)) for name, ns in COSTS_NS.items()]
    found = evidence((LOOP, SCRIPTS), *costs, *numbers)
    found.folders = {"scripts": folder}
    return program_pairs(found)


def test_a_script_costs_what_its_probe_and_action_cost_in_the_loop(tmp_path: Path) -> None:
    (one,) = predicted(tmp_path, "t:syscalls:sys_enter_read { @ = count() }", traced())
    assert one.point.predicted.value == pytest.approx(220 / 1e5)
    assert one.point.rate_hz == pytest.approx(1e4)


def test_all_system_calls_of_the_program_pay_where_they_were_counted(tmp_path: Path) -> None:
    calls = traced("02-calls", every_ns=1e4)  # ten for each event
    (one,) = predicted(tmp_path, "t:syscalls:sys_enter_read { @ = count() }", traced(), calls)
    assert one.point.predicted.value == pytest.approx((220 + 8 * 40) / 1e5)
    assert one.plain.predicted.value == pytest.approx(220 / 1e5)


def test_both_ends_of_a_timed_pair_fire_for_each_event_that_is_counted(tmp_path: Path) -> None:
    text = """
    t:syscalls:sys_enter_read { @start[tid] = nsecs }
    t:syscalls:sys_exit_read /@start[tid]/ { @ = hist(nsecs - @start[tid]); delete(@start[tid]) }
    """
    (one,) = predicted(tmp_path, text, traced())
    begins, ends = 240, 180 + (240 - 200) + (260 - 200)
    assert one.plain.predicted.value == pytest.approx((begins + ends) / 1e5)


def test_other_probes_share_the_events_between_them(tmp_path: Path) -> None:
    text = "t:syscalls:sys_enter_read, t:syscalls:sys_enter_write { @ = count() } END { clear(@x) }"
    (one,) = predicted(tmp_path, text, traced())
    assert one.plain.predicted.value == pytest.approx(220 / 1e5)


def test_a_script_with_a_probe_of_which_nothing_is_known_is_no_pair(tmp_path: Path) -> None:
    assert predicted(tmp_path, "k:vfs_read { @ = count() }", traced()) == []


def test_a_suite_whose_scripts_are_not_here_has_no_pairs(tmp_path: Path) -> None:
    (tmp_path / "01-script.tar.bt").write_text("t:syscalls:sys_enter_read { @ = count() }")
    assert program_pairs(evidence((LOOP, SCRIPTS), traced())) == []


def test_the_order_of_what_was_predicted_is_set_against_the_order_of_what_was_measured(tmp_path: Path) -> None:
    slow, slower = Estimate(0.02, 0.015, 0.03), Estimate(0.03, 0.02, 0.04)
    numbers = [traced(slowdown=slow), traced(every_ns=1e4, slowdown=slower, level="git")]
    found = predicted(tmp_path, "t:syscalls:sys_enter_read { @ = count() }", *numbers)
    tau = order(found)
    assert tau is not None
    assert tau.tau == 1.0
    assert order(found[:1]) is None
