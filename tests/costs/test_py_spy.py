"""What py-spy costs: a sample by the frames of Python that it reads, and a program that is stopped by its clock."""

from __future__ import annotations

from typing import Any

import pytest

from helpers.evidence_builder import MACHINE, case, evidence, measured, suite
from helpers.page_scripts import under_node
from probe_effect.answer.advice import Thread, advise
from probe_effect.answer.answers import answer
from probe_effect.answer.question import Combination, Question
from probe_effect.costs.actions import READINGS, stopped
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.row import SAMPLED
from probe_effect.costs.table import ProbeGroup, of_machine
from probe_effect.model import Estimate
from probe_effect.numbers.shown import facts_of_submission
from probe_effect.scripts.form import tables
from probe_effect.scripts.script import read_script
from probe_effect.site.costs import table_values

LEVELS = {"name": "language", "title": "-", "unit": "-", "levels": ["python-10", "python-200"]}
PROFILERS = suite(
    "language-profilers",
    case("02-stopped-often", SAMPLED, "record-stack"),
    case("03-not-stopped", SAMPLED, "record-stack"),
    measures="slowdown",
    factor=LEVELS,
)
OTHERS = suite("per-event", case("06-uprobe"))
UPROBE = measured("06-uprobe", Estimate(1_000.0, 900.0, 1_100.0))
FACTS = facts_of_submission(UPROBE.submission)


def spied(name: str, frames: int, cost: Estimate, **values: Any) -> Any:  # noqa: ANN401
    return measured(name, cost, tracer="py-spy", level=f"python-{frames}", **values)


SHALLOW = spied("02-stopped-often", 10, Estimate(200e3, 180e3, 220e3))
DEEP = spied("02-stopped-often", 200, Estimate(2_100e3, 2_000e3, 2_200e3))
NOISE = [spied("03-not-stopped", frames, Estimate(1e3, -50e3, 40e3), noise_floor_ns=80e3) for frames in (10, 200)]


def known(*numbers: Any) -> Evidence:  # noqa: ANN401
    found = evidence((PROFILERS, OTHERS), UPROBE)
    for one in numbers:
        found.add(one, "its suite measures the slowdown of the whole work")
    return found


WHOLE = known(SHALLOW, DEEP, *NOISE)


def advised(line: str, frames: int | None = None, busy_ratio: float = 1.0) -> Any:  # noqa: ANN401
    """The advice on a line of py-spy for one thread that is busy so much."""
    (probe,) = read_script(line).probes
    hz = (probe.hz or 0.0) * busy_ratio
    group = ProbeGroup(
        attach=probe.attach,
        kind=probe.kind,
        mechanism=None,
        matched=1,
        first_bytes=None,
        actions=probe.actions,
        rates_hz={1: hz},
        rate_hz=hz,
        frames=frames,
    )
    thread = Thread(tid=1, pid=1, name="python", busy_ratio=busy_ratio)
    return advise(WHOLE, FACTS, "py-spy", [group], [thread], calls_hz={}, budget_ratio=0.01)


@pytest.mark.parametrize(
    ("frames", "cost_ns"), [(1, 200e3), (10, 200e3), (None, 400e3), (60, 700e3), (200, 2_100e3), (400, 4_200e3)]
)
def test_a_sample_costs_more_with_each_frame_of_python(frames: int | None, cost_ns: float) -> None:
    part = stopped(WHOLE, MACHINE, "record-stack", frames)
    assert part is not None
    assert part.cost.value == pytest.approx(cost_ns)
    low, high = part.cost.low, part.cost.high
    assert low is not None
    assert high is not None
    assert low < cost_ns < high
    assert f"here of {max(10, frames or 30)} frames" in (part.note or "")


def test_a_program_is_stopped_for_a_share_of_all_time() -> None:
    slowed = advised("py-spy record -r 1000 -p 1").headline
    assert slowed.forecast.prediction.slowdown.value == pytest.approx(0.4 / 0.6)
    assert slowed.forecast.prediction.event_hz.value == pytest.approx(1000)


def test_a_thread_that_waits_is_slowed_as_much_while_it_runs() -> None:
    slowed = advised("py-spy record -r 1000 -p 1", busy_ratio=0.25).headline
    assert slowed.forecast.prediction.slowdown.value == pytest.approx(0.4 / 0.6)


def test_the_rate_of_a_threshold_is_that_which_slows_a_program_so_much() -> None:
    (one,) = advised("py-spy record -p 1").probes
    rate = one.threshold(30)
    assert rate is not None
    slowed = advised(f"py-spy record -r {round(rate.value)} -p 1").headline
    assert slowed.forecast.prediction.slowdown.value == pytest.approx(0.3, rel=0.01)


def test_more_samples_than_there_is_time_for_nearly_halt_the_program() -> None:
    advice = advised("py-spy record -r 1000 -p 1", frames=200)
    assert advice.headline.forecast.prediction.slowdown.value == pytest.approx(24)
    assert advice.within_budget is False


def test_what_was_not_distinguishable_from_zero_is_told_by_its_upper_end() -> None:
    advice = advised("py-spy record --nonblocking -p 1")
    (one,) = advice.probes
    assert not one.part.is_clear
    assert one.part.cost.high == pytest.approx(80e3)
    assert "no cost was distinguishable from 0" in one.part.note


def test_native_frames_were_not_measured_so_there_is_no_upper_end() -> None:
    advice = advised("py-spy record -n -r 1 -p 1")
    (one,) = advice.probes
    assert (one.part.cost.value, one.part.cost.high) == (pytest.approx(400e3), None)
    assert "Nobody measured --native" in one.part.note
    assert advice.within_budget is None


def test_a_dump_is_one_stop_in_its_second() -> None:
    advice = advised("py-spy dump -p 1")
    assert advice.headline.forecast.prediction.slowdown.value == pytest.approx(400e-6, rel=1e-3)
    assert "stops the process once" in advice.probes[0].part.note
    assert advice.within_budget


def test_predict_answers_for_py_spy_by_rate_and_depth() -> None:
    combination = Combination(SAMPLED, "record-stack", 100.0, frames=200)
    said = answer(WHOLE, Question(combination=combination, tracer="py-spy"), FACTS)
    assert said.headline is not None
    assert said.headline.forecast.prediction.slowdown.value == pytest.approx(0.21 / 0.79)


@pytest.mark.parametrize("reading", ["record", "count", ""])
def test_other_actions_and_a_single_depth_have_no_cost(reading: str) -> None:
    assert stopped(WHOLE, MACHINE, reading, None) is None
    assert stopped(known(SHALLOW), MACHINE, "record-stack", None) is None
    assert stopped(known(SHALLOW, DEEP), MACHINE, "record-stack-running", None) is None


SAID = """
import { nearest, together } from "./script-cost.js";
import { connect } from "./script-reader.js";
const [tables, data, lines] = asked;
const read = connect(tables);
console.log(JSON.stringify(lines.map((line) => {
  const { tracer, probes: [probe] } = read(line);
  const found = nearest(data, "", tracer, probe, "");
  const { slowdown } = together([{ ...found, rate: probe.hz }], null);
  return [found.cost, slowdown, found.note].map((one) => one.value ?? one);
})));
"""


def test_the_page_says_the_same_of_lines_of_py_spy() -> None:
    lines = [f"py-spy {one} -p 1" for one in ("record", "record -r 1000", "top --nonblocking", "dump", "record -n")]
    notes: dict[str, int] = {}
    table = table_values(of_machine(WHOLE, MACHINE, "py-spy"), (), notes, {})
    data = {"scopes": {"": {"machines": [[MACHINE]], "notes": list(notes), "tracers": {"py-spy": table}}}, "words": {}}
    for line, (cost_ns, slowdown, note) in zip(lines, under_node(SAID, tables(), data, lines), strict=True):
        advice = advised(line)
        (one,) = advice.probes
        assert cost_ns == pytest.approx(one.part.cost.value, rel=1e-5)
        assert slowdown == pytest.approx(advice.headline.forecast.prediction.slowdown.value, rel=1e-5)
        assert note == one.part.note
    assert set(table["rows"][SAMPLED]) == set(READINGS)
