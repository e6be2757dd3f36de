"""What stands on pages where no time was measured: an estimate with its mark, else that others printed one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from costs.test_from_counts import known
from helpers.evidence_builder import MACHINE, measured
from probe_effect.costs.evidence import evidence_of
from probe_effect.model import Estimate
from probe_effect.site.pages import case_answer, fragments
from probe_effect.site.pages.parts import fragment, markdown

if TYPE_CHECKING:
    from probe_effect.numbers.catalogue import Catalogue


def test_an_estimate_is_marked_and_reaches_as_far_as_its_interval() -> None:
    found = known({"raw-1": 2.0})
    (line,) = case_answer.of_case(found, "kprobe", found.machines)
    assert markdown(line.cost).startswith("≈ ")
    low, high = line.part.cost.low, line.part.cost.high
    assert low is not None
    assert high is not None
    cell = markdown(case_answer.cell(found, "kprobe", found.machines, "skipped"))
    assert cell.endswith("(estimated)")
    assert f"≈ {low:.0f}"[:4] == cell[:4]


def test_what_was_measured_has_no_estimate_beside_it() -> None:
    assert case_answer.of_case(known(), "entry-1", [MACHINE]) == []


def test_a_page_has_the_estimates_of_the_machines_that_it_shows() -> None:
    assert case_answer.of_case(known(), "kprobe", ["another"]) == []
    assert markdown(case_answer.cell(known(), "kprobe", ["another"], "skipped")) == "skipped"


def test_what_nobody_counted_keeps_its_words() -> None:
    found = known()
    found.counts.clear()
    assert markdown(case_answer.cell(found, "kprobe", [MACHINE], "published only †")) == "published only †"


def test_the_page_says_how_many_of_those_left_out_the_interval_held() -> None:
    text = fragment(case_answer.write(known()))
    assert "Of 12 cases without any exception, left out with their kind, 12 took 1.00 times" in text.replace(
        "\xa0", " "
    )
    assert "wider than a factor of two" not in text
    far = fragment(case_answer.write(known(dict.fromkeys(("raw-1", "raw-2", "raw-3"), 4.0))))
    assert "wider than a factor of two" in far
    assert "The greatest ratio is that of [raw-" in far


@pytest.mark.parametrize("suite", ["per-event", "user-probes", "usdt", "combinations"])
def test_no_row_of_the_costs_says_only_that_it_was_skipped(catalogue: Catalogue, suite: str) -> None:
    found = evidence_of(catalogue)
    section = fragment([fragments.case_table(catalogue.by_suite[suite], catalogue)])
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| [") and "(/costs/" in line]
    assert len(rows) == len([one for folder, one in found.cases if folder.id == suite])
    assert [row[0] for row in rows if row[1] in {"skipped", "not yet", "—"}] == []


def test_a_machine_that_measured_a_case_with_any_tracer_has_no_estimate_of_it() -> None:
    found = known()
    found.add(measured("kprobe", Estimate(300.0, 290.0, 310.0), tracer="libbpf"))
    assert case_answer.of_case(found, "kprobe", found.machines) == []
