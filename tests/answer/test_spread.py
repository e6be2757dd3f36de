"""How far real programs are from the prediction: a row for each kind of script, and what is in no row."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.evidence_builder import TRACER, case, evidence, measured, suite
from helpers.number_builder import altered
from helpers.page_scripts import under_node
from probe_effect.answer.answers import answer
from probe_effect.answer.proof import ProgramPair
from probe_effect.answer.question import ProbeQuestion, Question
from probe_effect.answer.sentences import programs
from probe_effect.answer.spread import (
    KINDS,
    STOPPING,
    Spread,
    coverage,
    kind_of,
    left_out,
    program_pairs,
    program_runs,
    spread_of,
    spreads,
)
from probe_effect.costs.row import SAMPLED
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
from probe_effect.numbers.shown import facts_of_submission
from probe_effect.site.advising import programs_said
from probe_effect.site.pages import proof

if TYPE_CHECKING:
    from probe_effect.costs.evidence import Evidence
    from probe_effect.numbers.submission import Number

PROGRAMS = [f"program-{place}" for place in range(12)]
LOOP = suite(
    "loop",
    case("04-entry", "tracepoint-entry"),
    case("05-count", "tracepoint-entry", "count"),
    case("06-print", "tracepoint-entry", "print"),
    case("09-sample", SAMPLED, "record-stack"),
)
TRACED = suite(
    "programs",
    case("01-reads", "tracepoint-entry", "count", like="05-count"),
    case("02-printed", "tracepoint-entry", "print", like="06-print"),
    case("03-sampled", SAMPLED, "record-stack", like="09-sample"),
    case("04-opens", "tracepoint-entry", "print"),
    case("05-silent", "tracepoint-entry", counted_by="nothing"),
    factor={"name": "program", "title": "-", "unit": "-", "levels": PROGRAMS},
)
EVERY_NS = 1e4
"""Untraced time of an event: a cost of 1 000 ns predicts a slowdown of 10 %."""
COSTS = [measured(name, Estimate(1000.0, 990.0, 1010.0)) for name in ("05-count", "06-print", "09-sample")]


def traced(name: str, ratio: float, level: str = PROGRAMS[0], *, error: float = 0.02, **known: Any) -> Number:  # noqa: ANN401
    """A program that is slowed by so many times the prediction; with an `error` of slowdown to each end."""
    value = 0.1 * ratio
    slowdown = Estimate(value, value - error, value + error)
    values: dict[str, Any] = {"level": level, "baseline": Estimate(EVERY_NS), "slowdown": slowdown}
    return measured(name, slowdown.times(EVERY_NS), **values, **known)


def each(name: str, *ratios: float, **values: float) -> list[Number]:
    """Every program, with the ratios in turns."""
    return [traced(name, ratios[at % len(ratios)], level, **values) for at, level in enumerate(PROGRAMS)]


def known(*numbers: Number) -> Evidence:
    return evidence((LOOP, TRACED), *COSTS, *numbers)


@pytest.mark.parametrize(
    ("tracer", "probe", "actions", "kind"),
    [
        ("bpftrace", "tracepoint-entry", ("count",), "plain"),
        ("bpftrace-0-23-2", "uprobe", ("count-by-user-stack",), "stack"),
        ("bpftrace", "uprobe", ("count-by-user-stack", "print"), "print"),
        ("perf-trace", "system-call", ("print",), "print"),
        ("strace", "system-call", ("print",), "stop"),
        ("strace-seccomp", "system-call", ("count-by-name",), "stop"),
        ("gdb", "uprobe", ("print",), "stop"),
        ("bpftrace", "profile", ("count-by-user-stack",), "sample"),
        ("perf-record", "profile", ("record-stack",), "sample"),
    ],
)
def test_a_probe_is_of_one_kind_here_and_in_the_pages_script(
    tracer: str, probe: str, actions: tuple[str, ...], kind: str
) -> None:
    assert kind_of(tracer, probe, actions) == kind
    text = 'import { kindOf } from "./script-cost.js"; console.log(JSON.stringify(kindOf(...asked)));'
    assert under_node(text, {"stopping": STOPPING}, tracer, {"kind": probe, "actions": actions}) == kind


def test_each_kind_has_a_row_of_its_own() -> None:
    found = known(*each("01-reads", 1.1, 1.3), *each("02-printed", 2.0, 3.0), *each("03-sampled", 1.0))
    rows = spreads(found)
    assert set(rows) == set(KINDS)
    plain, printing, sampling = (rows[kind] for kind in ("plain", "print", "sample"))
    assert (plain.measured, plain.pairs, plain.clear, plain.machines) == (12, 12, 12, 1)
    assert plain.ratio.value == pytest.approx(1.2, abs=0.05)
    assert printing.ratio.value == pytest.approx(2.45, abs=0.15)
    assert sampling.ratio.value == pytest.approx(1.0, abs=0.05)
    assert spread_of(found, TRACER, "kprobe", ["print"]) == printing


def test_a_pair_without_a_clear_slowdown_is_in_the_row_and_says_little() -> None:
    clear = each("01-reads", 1.1, 1.3)
    vague = [traced("01-reads", -3.0, PROGRAMS[0], error=2.0)]
    row = spreads(known(*clear[1:], *vague))["plain"]
    assert (row.pairs, row.clear) == (12, 11)
    assert row.ratio == pytest.approx(spreads(known(*clear[1:]))["plain"].ratio, rel=0.03)


def test_a_kind_with_too_few_programs_has_the_range_of_all_and_says_so() -> None:
    row = spreads(known(*each("01-reads", 1.1, 1.3)))["stop"]
    assert not row.is_own
    assert row.ratio == spreads(known(*each("01-reads", 1.1, 1.3)))["plain"].ratio
    assert "of all kinds" in programs(row)


def test_without_programs_there_is_no_row() -> None:
    found = known(*each("01-reads", 1.1)[:5])
    assert spreads(found) == {}
    assert spread_of(found, TRACER, "uprobe", ["count"]) is None


def test_what_has_no_prediction_is_named_with_the_reason() -> None:
    found = known(
        traced("04-opens", 1.0),
        traced("05-silent", 1.0),
        traced("01-reads", 1.0, loss_ratio=0.01),
        traced("01-reads", 1.0, tracer="dtrace"),
    )
    assert program_pairs(found) == []
    assert {(one.measured.case, one.measured.tracer): one.why.split(",")[0] for one in left_out(found)} == {
        ("04-opens", TRACER): "the cost of its probe and action with bpftrace is not known on that machine",
        ("05-silent", TRACER): "no event of it is counted",
        ("01-reads", TRACER): "events were lost",
        ("01-reads", "dtrace"): "the cost of its probe and action with dtrace is not known on that machine",
    }


def test_a_script_and_a_command_line_without_a_like_are_predicted_from_their_text(tmp_path: Path) -> None:
    (tmp_path / "04-opens.bt").write_text('t:syscalls:sys_enter_openat { printf("x") }', encoding="utf-8")
    (tmp_path / "04-opens.strace").write_text("# 04-opens: counts.\n\n-f -c\n", encoding="utf-8")
    stops = suite("stops", case("22-call", "system-call", "print"))
    cost = measured("22-call", Estimate(20_000.0, 19_000.0, 21_000.0), tracer="strace")
    numbers = [traced("04-opens", 1.0), traced("04-opens", 20.0, tracer="strace")]
    found = evidence((LOOP, stops, TRACED), *COSTS, cost, *numbers)
    found.folders = {"programs": tmp_path}
    runs = {kind: one.point.predicted.value for kind, one in program_runs(found) if isinstance(one, ProgramPair)}
    assert runs == {"print": pytest.approx(0.1), "stop": pytest.approx(2.0)}


def test_the_interval_of_an_answer_is_tested_on_programs_that_it_was_not_learnt_from() -> None:
    assert coverage(known(*each("01-reads", 1.0, 1.05)), "plain").inside_ratio == 1.0
    one_far = [*each("01-reads", 1.0, 1.05)[:-1], traced("01-reads", 6.0, PROGRAMS[-1])]
    assert coverage(known(*one_far), "plain").inside_ratio == pytest.approx(11 / 12)


def test_what_is_tested_is_chosen_by_the_interval_and_not_by_the_outcome() -> None:
    vague = traced("01-reads", 9.0, PROGRAMS[-1], error=0.2)
    assert coverage(known(*each("01-reads", 1.1, 1.3)[:-1], vague), "plain").tested == 11


def test_an_answer_has_the_range_of_its_own_kind() -> None:
    found = known(*each("01-reads", 1.1, 1.3), *each("02-printed", 2.0, 3.0))
    here = facts_of_submission(COSTS[0].submission)
    one = answer(found, Question(probes=(ProbeQuestion("06-print", 1e4),), tracer=TRACER), here).headline.forecast
    (apart,) = one.spreads
    assert apart == spreads(found)["print"]
    assert one.prediction.slowdown.high == pytest.approx(0.0101 * (apart.ratio.high or 0.0))


def test_a_spread_never_makes_an_interval_narrower() -> None:
    counts: dict[str, Any] = {"measured": 10, "pairs": 10, "clear": 10, "machines": 1}
    assert Spread(kind="plain", ratio=Estimate(2.0, 1.5, 3.0), **counts).factor == Estimate(1.0, 1.0, 3.0)
    assert Spread(kind="plain", ratio=Estimate(0.5, 0.4, 0.8), **counts).factor == Estimate(1.0, 0.4, 1.0)


def test_the_page_shows_the_table_and_what_is_left_out() -> None:
    made = [*COSTS, *each("01-reads", 1.1, 1.3), traced("05-silent", 1.0)]
    folders = tuple(SuiteFolder(Path(one.id), one) for one in (LOOP, TRACED))
    catalogue = Catalogue(suites=folders, active=tuple(one.submission for one in made))
    text = proof.write(catalogue)["programs-spread.md"]
    assert "[Median, of predicted](/data/dictionary/#of-predicted) **1.2**" in text  # of all kinds here, so said once
    assert re.search(r"\| counts, stores or filters \|.* 13 \| 12 \| 12 \| ", text)
    assert "with bpftrace, 1 program: no event of it is counted" in text
    none = Catalogue(suites=folders)
    assert "probe-effect measure programs scripts" in proof.write(none)["programs-spread.md"]


def said(*numbers: Number, rate_hz: float | None = None) -> str:
    return programs_said(numbers, rate_hz).replace("\u00a0", " ").replace("\u202f", " ")


def test_the_forms_say_at_which_rate_real_programs_were_slowed_and_none_below_0() -> None:
    slow, slower = traced("01-reads", 1.1), traced("01-reads", 6.0, PROGRAMS[1])
    unclear = altered(traced("01-reads", -0.5, PROGRAMS[2], error=0.3), cost=Estimate(-50.0, -350.0, 250.0))
    assert said(slow) == "In 1 real program, at 100 k events/s, it took 11 % longer."
    assert said(slow, slower) == "In 2 real programs, at 100 k events/s, it took 11 % to 60 % longer."
    assert said(slow, unclear) == "In 2 real programs, at 100 k events/s, the slowdown was clear in 1 of 2: 11 %."
    assert said(unclear) == "In 1 real program, at 100 k events/s, no slowdown was distinguishable from 0."
    assert "at 4 999 samples a second," in said(slow, rate_hz=4999.0)
