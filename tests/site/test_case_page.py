"""The page of a case: the answer that it begins with, its table by machine, its folds, and the causes of its counts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from helpers.builders import (
    FIGURES,
    block_rows,
    changed,
    copy_suite,
    counted_rows,
    counted_values,
    machine_values,
    many_blocks,
    write_counted_submission,
    write_data,
    write_source,
    write_submission,
)
from helpers.evidence_builder import case, evidence, suite
from helpers.number_builder import number, submission
from helpers.written_pages import split, written
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.pages import case_page
from probe_effect.site.pages.parts import Fold, Group, Table
from probe_effect.site.pages.results import view
from probe_effect.site.pages.results.cost import other_instructions
from probe_effect.site.pages.results.view import COST, TRACER, CaseResults
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Sample

PAGE = "costs/02-kprobe.md"


def page_of(data: Path) -> str:
    body = split(written(read_catalogue(DataFolder(data)))[PAGE])[1]
    return body.replace("\u00a0", " ").replace("\u202f", " ").replace("&#58;", ":").replace("&#46;", ".")


def measured(data: Path, samples: list[Sample]) -> str:
    """The page where that was measured alone."""
    copy_suite(data)
    write_submission(data, samples)
    return page_of(data)


def unlinked(text: str) -> str:
    """Markdown with the texts of its links alone."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        pytest.param(many_blocks(cost_ns=70), "One event costs **70 ns** on Example", id="clear"),
        pytest.param(
            [row for block in range(8) for row in block_rows(block, 1, (100, 104))],
            "One event costs **at most 4.0 ns** on Example",
            id="inside the noise floor",
        ),
        pytest.param(many_blocks(cost_ns=-20), ": it is not distinguishable from 0.", id="faster when traced"),
        pytest.param(many_blocks(2), "There is no answer yet: too few blocks", id="too few blocks"),
        pytest.param(many_blocks(seen=1), "There is no answer yet: events do not add up", id="unreconciled"),
    ],
)
def test_the_page_begins_with_what_was_found_and_no_more(tmp_path: Path, samples: list[Sample], words: str) -> None:
    assert words in unlinked(measured(tmp_path, samples))


def test_the_answer_is_a_range_over_machines(data: Path) -> None:
    write_submission(data, many_blocks(cost_ns=90), changed(machine_values(), "machine.id", "another"))
    assert "One event costs **50 to 90 ns** on 2 physical machines with bpftrace 0.23." in unlinked(page_of(data))


def test_the_table_names_each_machine_once_and_each_row_has_an_address(data: Path) -> None:
    write_submission(data, many_blocks(cost_ns=90), changed(machine_values(), "machine.id", "another"))
    lines = page_of(data).splitlines()
    assert len([line for line in lines if line.startswith("| **[")]) == 2
    assert [line for line in lines if re.match(r"\| \[bpftrace 0\.23\]\(#=(machine|another)-bpftrace\) \|", line)]


def test_a_table_has_the_machines_that_fit_and_a_fold_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [submission(name) for name in ("a", "b", "c")]
    costs_ns = iter((100.0, 200.0, 300.0, 400.0, 500.0, 600.0))
    rows = [number(run, Estimate(next(costs_ns)), tracer=tracer) for run in runs for tracer in ("one", "two")]
    per_event = suite("per-event", case("02-kprobe"))
    of = CaseResults(evidence((per_event,)), per_event, per_event.cases[0], rows)

    def machines(table: object) -> list[str]:
        assert isinstance(table, Table)
        return [str(row.text) for row in table.rows if isinstance(row, Group)]

    def costs(table: object) -> list[object]:
        assert isinstance(table, Table)
        return [row[1] for row in table.rows if not isinstance(row, Group)]

    monkeypatch.setattr(view, "MOST_ROWS", 5)
    table, rest = filter(None, of.table([TRACER, COST]))
    assert isinstance(rest, Fold)
    assert rest.title == "On other machines"
    assert (len(machines(table)), len(machines(rest.parts[0]))) == (2, 1)
    assert costs(table) + costs(rest.parts[0]) == [COST.cell(one) for one in rows]
    monkeypatch.setattr(view, "MOST_ROWS", 6)
    (table,) = filter(None, of.table([TRACER, COST]))
    assert len(machines(table)) == 3


def test_why_nobody_measured_it_is_one_sentence_for_all_machines() -> None:
    runs = [submission(name) for name in ("a", "b")]
    skipped = [number(run, None, status="skipped", note="no kprobes") for run in runs]
    (said,) = case_page.not_measured(skipped)
    assert said.endswith("with bpftrace: skipped: no kprobes.")


@pytest.mark.parametrize(("code", "is_said"), [("90", False), ("c3", True)])
def test_a_probed_function_that_does_not_begin_alike_is_said(code: str, *, is_said: bool) -> None:
    runs = [submission(document={"run__functions": {"libc:read": one}}) for one in ("90", code)]
    assert bool(other_instructions([number(run, Estimate(1.0)) for run in runs], ["libc:read"])) is is_said


def test_a_count_that_changed_leads_to_its_cause(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    for kernel, machine, cost in (("6.1.0-50-amd64", "old", 400.0), ("6.12.107-amd64", "new", 500.0)):
        write_counted_submission(data, counted_rows({"02-kprobe bpftrace": cost}), counted_values(kernel, machine))
    explanation = """schema_version = 1
[[explanation]]
id = "a-cause"
cases = ["02-kprobe"]
of = "kernel"
before = "6.1"
since = "6.12"
change = "more"
says = "It does more."
references = ["a-reference"]
certainty = "read"
"""
    (data / "explanations.toml").write_text(explanation, encoding="utf-8")
    page = page_of(data)
    assert re.search(r"\[500\]\(/results/[^)]+\) \[1\]\(/kernels/changes/#a-cause\)", page)
    _, _, folded = page.partition("> [!fold]- Why the counts changed")
    assert "1. It does more. [Read in the source](/kernels/changes/#a-cause)." in folded
    assert "[1](#=a-cause)" in written(read_catalogue(DataFolder(data)))["kernels/changes.md"]


def test_what_is_not_the_answer_is_folded(data: Path) -> None:
    open_, folds = page_of(data).split("## In detail")
    assert "> [!fold]-" not in open_
    assert "> [!fold]- Published by others" in folds


def test_what_others_printed_that_is_no_cost_is_shown_unless_their_cost_is(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    share = {"figure": "share", "what": "share of it", "printed": "9 %", "value": "9", "unit": "percent"}
    one = [share | {"case": "02-kprobe"}]
    write_source(data, [*FIGURES, *one], name="with-its-cost")
    write_source(data, one, findings=(), name="without", summary="Nothing.")
    _, _, beside = page_of(data).partition("> [!fold]- Printed by others")
    assert "(/sources/without/#share)" in beside
    assert "(/sources/with-its-cost/#share)" not in beside
