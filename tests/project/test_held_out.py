"""The bench of programs that no suite has: what it tries, its table and targets, and one real row."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from evidence import held_out as bench
from evidence.held_out import choose, held_out, read_rows
from evidence.held_out_measured import Asked
from evidence.held_out_tables import summary, table
from helpers.live_programs import needs_bpf
from helpers.needs import needs
from probe_effect.model import UsageError
from probe_effect.scripts.script import read_script

if TYPE_CHECKING:
    from pathlib import Path

FIRST, OTHERS = 5, 14


def made(name: str, median: float, predicted: list[float | None], *, answer_s: float = 1.0) -> dict[str, Any]:
    return {
        "id": name,
        "measured": {
            "slowdown_ratio": median,
            "slowdown_low_ratio": median - 0.01,
            "slowdown_high_ratio": median + 0.01,
        },
        "predicted": predicted,
        "printed": predicted,
        "by_hand": None,
        "probes": [{"basis": "measured", "rate_hz": 1e5}],
        "answer_s": answer_s,
    }


def test_five_known_scripts_come_first_then_fourteen_programs_with_two_each_then_bursts() -> None:
    programs = [one.id.partition(".")[0] for one in held_out()]
    assert len(set(programs[:FIRST])) == FIRST
    assert [programs.count(one) for one in dict.fromkeys(programs[FIRST:])][:OTHERS] == [2] * OTHERS
    assert {"burst-start", "burst-end", "burst-intervals", "short-children", "threads"} <= set(programs)
    assert len({one.id for one in held_out()}) == len(held_out())


@pytest.mark.parametrize("one", held_out(), ids=lambda one: one.id)
def test_a_script_is_understood_whole(one: bench.HeldOut) -> None:
    script = read_script(one.script)
    assert script.probes
    assert [unknown for probe in script.probes for unknown in probe.unknown] == []


def test_a_program_or_one_of_its_scripts_is_chosen_by_name() -> None:
    assert [one.id for one in choose(["dd"], held_out())] == ["dd.written", "dd.read-returns"]
    assert [one.id for one in choose(["dd.written"], held_out())] == ["dd.written"]
    with pytest.raises(UsageError, match="no such program or script"):
        choose(["doom"], held_out())


def test_the_targets_are_those_of_programs_that_are_slowed() -> None:
    rows = [
        made("a.b", 0.30, [0.30, 0.25, 0.40]),
        made("c.d", 0.60, [0.30, 0.10, 0.40], answer_s=11.0),
        made("e.f", 0.01, [0.30, 0.25, 0.40]),
    ]
    said = summary(rows)
    assert "2 of 3 are slowed" in said
    assert "2 of 3 answers" in said
    assert "1 of 2 inside the interval, 0 not told apart, 1 above, 0 below" in said
    assert "median of measured to predicted 1.50" in said
    assert "greatest measured over an upper end 1.50" in said
    assert "1 of 2 intervals no wider" in said


def test_a_slowdown_that_is_not_known_is_neither_inside_nor_outside() -> None:
    row = made("a.b", 0.30, [None, None, None])
    assert "| — |" in table([row])
    assert "no slowdown of 1 is known" in summary([row])


def test_a_slowdown_whose_own_interval_reaches_into_the_answer_is_not_told_from_it() -> None:
    noisy = made("a.b", 0.30, [0.10, 0.05, 0.295])
    assert "| not told apart |" in table([noisy])
    assert "0 of 1 inside the interval, 1 not told apart" in summary([noisy])


def test_an_interrupted_bench_makes_no_row_twice(tmp_path: Path) -> None:
    file = tmp_path / "rows"
    file.write_text(json.dumps(made("dd.written", 0.5, [0.5, 0.4, 0.6])) + "\n")
    (row,) = bench.rows(choose(["dd.written"], held_out()), Asked(), pairs=1, file=file, truths={})
    assert row["measured"]["slowdown_ratio"] == 0.5
    assert len(read_rows(file)) == 1


@pytest.mark.deep
@pytest.mark.tracer
@needs("bpftrace")
@needs_bpf
def test_a_row_has_all_three_figures(tmp_path: Path) -> None:
    (row,) = bench.rows(choose(["forks"], held_out()), Asked(), pairs=1, file=tmp_path / "rows", truths={})
    assert row["measured"]["events"] > 0
    assert row["probes"][0]["rate_hz"] > 0
    assert row["answer_s"] > 0
    assert read_rows(tmp_path / "rows") == {row["id"]: row}
