"""A number that lost many of its events is in tables, marked, and leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.builders import EVENTS, changed, copy_suite, machine_values, many_blocks, write_submission
from helpers.evidence_builder import MACHINE, TRACER, case, cost_of, evidence, measured, suite
from helpers.number_builder import number, submission
from helpers.written_pages import split, written
from probe_effect.compare.comparison import compare, ranked
from probe_effect.costs.evidence import Scope
from probe_effect.costs.questions import QUESTIONS, of_all_machines, question
from probe_effect.costs.row import RowKey
from probe_effect.costs.table import CostTable
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue, SuiteFolder, read_catalogue
from probe_effect.numbers.index import Numbers
from probe_effect.site.facts import verdicts
from probe_effect.site.pages import addresses
from probe_effect.site.pages.parts import Link
from probe_effect.site.pages.results import view_of
from probe_effect.store.beside_files import Claim
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from probe_effect.numbers.submission import Number

LOSSY = many_blocks(cost_ns=9, seen=EVENTS // 2, lost=EVENTS - EVENTS // 2)
LOOP = suite("loop", case("print", "uprobe", "print"), case("plain", "uprobe"))


def cost(machine: str, ns: float, loss_ratio: float = 0.0, name: str = "print") -> Number:
    return measured(name, Estimate(ns, ns - 1, ns + 1), machine, loss_ratio=loss_ratio)


@pytest.mark.parametrize(("loss_ratio", "leads"), [(None, True), (0.0, True), (0.001, True), (0.0011, False)])
def test_a_number_leads_unless_more_than_a_thousandth_of_its_events_were_lost(
    loss_ratio: float | None, *, leads: bool
) -> None:
    assert number(submission(), Estimate(50.0), loss_ratio=loss_ratio).leads is leads


def test_no_end_of_a_range_over_machines_is_of_a_number_with_losses() -> None:
    some = [cost("a", 2000), cost("b", 1600), cost("c", 660, 0.4)]
    folder = SuiteFolder(Path("loop"), LOOP)
    catalogue = Catalogue(suites=(folder,), active=tuple(one.submission for one in some))
    asked = question(catalogue, f"{TRACER}.print")
    assert asked is not None
    whole = of_all_machines(catalogue, asked)
    assert whole is not None
    assert (whole.time.low, whole.machines) == (1599, 2)
    row = CostTable(evidence((LOOP,), *some), Scope(alike=("a", "b", "c")), TRACER).row(RowKey("uprobe", None, "print"))
    assert row is not None
    assert (row.cost.low, set(row.machines), row.note) == (1599, {"a", "b"}, None)


def test_an_older_run_without_losses_is_current_before_a_newer_one_with_them() -> None:
    older, newer = (submission(started=f"2026-11-2{day}T10:00:00Z") for day in (0, 1))
    kept = number(older, Estimate(2000.0), loss_ratio=0.0)
    number(newer, Estimate(660.0), loss_ratio=0.4)
    assert Numbers([older, newer]).current() == [kept]


def test_an_answer_passes_over_a_machine_that_lost_events_and_takes_it_only_where_no_other_is() -> None:
    own, other = cost(MACHINE, 660, 0.4), cost("b", 1600)
    alone = cost_of(evidence((LOOP,), own), MACHINE, TRACER, kind="uprobe", actions=["print"])
    assert alone is not None
    assert "Events were lost where it was measured" in (alone.note or "")
    table = CostTable(evidence((LOOP,), own, other), Scope(own=(MACHINE,), alike=("b",)), TRACER)
    row = table.row(RowKey("uprobe", None, "print"))
    assert row is not None
    assert row.machines == ("b",)


def test_what_an_action_adds_is_never_from_a_cost_with_losses() -> None:
    table = CostTable(evidence((LOOP,), cost("a", 500, name="plain"), cost("a", 660, 0.4)), Scope(("a",)), TRACER)
    assert table.adds("print") is None


def test_it_is_neither_ranked_nor_compared_and_decides_no_claim() -> None:
    kept, lossy = cost("a", 2000), cost("a", 660, 0.4)
    assert [one for one, _ in ranked([kept, lossy])] == [kept]
    assert "events were lost" in (compare(kept, lossy).reason or "")
    values = dict.fromkeys(("words", "who", "conditions", "says"), "-") | {"id": "a", "subject": "User probes"}
    place = {"link": "https://example.org/1", "date": "2026-02-03"}
    claim = Claim.model_validate(values | place | {"numbers": (f"{TRACER}.print",), "below": 1000.0})
    (told,) = verdicts(Catalogue(active=(lossy.submission,), claims=(claim,)))
    assert (told["verdict"], told["compared"]) == ("cannot be said", 0)


def page(data: Path) -> str:
    body = split(written(read_catalogue(DataFolder(data)))["costs/02-kprobe.md"])[1]
    return body.replace("\u00a0", " ").replace("\u202f", " ")


def test_the_range_of_a_case_leaves_it_out_and_the_table_marks_it(data: Path) -> None:
    write_submission(data, LOSSY, changed(machine_values(), "machine.id", "another"))
    text = page(data)
    assert "One event costs **[50 ns]" in text
    assert re.search(r"9\.0+ ns[^|]*, with losses", text)


def test_where_it_is_the_only_one_the_page_of_its_case_says_so_beside_it(tmp_path: Path) -> None:
    copy_suite(tmp_path)
    write_submission(tmp_path, LOSSY)
    assert re.search(r"One event costs \[9\.0 ns\]\([^)]*\) on Example[^\n]*, with losses", page(tmp_path))


def test_no_range_of_our_own_pages_ends_at_a_number_with_losses(catalogue: Catalogue) -> None:
    ends = [
        end.href
        for folder in catalogue.suites
        for one in folder.suite.cases
        if folder.suite.result_type.guides and len(found := view_of(folder.suite).range_of(one, catalogue.numbers)) > 1
        for end in found
        if isinstance(end, Link)
    ]
    assert ends
    assert {addresses.number(one, "cost") for one in catalogue.numbers.current() if one.has_losses} & {*ends} == set()
    replies = [
        reply
        for one in QUESTIONS.values()
        if one.of == "event" and (whole := of_all_machines(catalogue, one)) is not None
        for reply in whole.replies
    ]
    assert replies
    assert [reply.number.id for reply in replies if reply.number.has_losses] == []
