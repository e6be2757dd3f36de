"""Named questions: one answer over all machines, by one rule, wherever it is asked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.builders import PROJECT
from helpers.evidence_builder import case, suite
from helpers.number_builder import number, submission
from probe_effect.costs.questions import QUESTIONS, NamedQuestion, of_all_machines, on, question
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
from probe_effect.numbers.rows import ADD_UP
from probe_effect.site.facts import asked_for, facts, written

if TYPE_CHECKING:
    from probe_effect.numbers.submission import Submission

ENTRY, COUNT, CALL = "04-tracepoint-entry", "02-entry-count", "22-system-call"
SUITE = suite(
    "per-event",
    case(ENTRY, "tracepoint-entry"),
    case(COUNT, "tracepoint-entry", "count"),
    case(CALL, "system-call", "print"),
    workload={"program": "loop.c", "operation": "-", "system_calls": 2},
)
ASKED = NamedQuestion("tracepoint", "A tracepoint", ("bpftrace", "libbpf"), (ENTRY, COUNT))


def machine(name: str, **costs_ns: tuple[float, float, float]) -> Submission:
    """A machine with these costs of bpftrace's: `entry`, `count`."""
    own = submission(name, suite="per-event", noise_floor_ns=1.0)
    for key, cost in costs_ns.items():
        number(own, Estimate(*cost), {"entry": ENTRY, "count": COUNT}[key])
    return own


def catalogue_of(*machines: Submission) -> Catalogue:
    return Catalogue(suites=(SuiteFolder(Path("per-event"), SUITE),), active=machines)


def test_a_range_goes_from_the_least_low_to_the_greatest_high_end_and_its_value_is_of_the_median_machine() -> None:
    some = {"a": (100.0, 90.0, 130.0), "b": (40.0, 30.0, 50.0), "c": (200.0, 190.0, 210.0)}
    found = of_all_machines(catalogue_of(*(machine(name, entry=cost) for name, cost in some.items())), ASKED)
    assert found is not None
    assert found.time == (100.0, 30.0, 210.0)
    assert (found.machines, found.words) == (3, "3 physical machines")


def test_a_cost_that_is_no_difference_is_the_bound_of_its_machine_and_makes_no_range() -> None:
    known = catalogue_of(machine("a", entry=(100.0, 90.0, 110.0)), machine("b", entry=(0.2, -0.5, 0.8)))
    bound, found = on(known, ASKED, "b"), of_all_machines(known, ASKED)
    assert bound is not None
    assert bound.is_bound
    assert found is not None
    assert found.time == (100.0, 90.0, 110.0)


def test_a_bound_is_the_one_that_tables_of_the_same_number_have(catalogue: Catalogue) -> None:
    bounds = [
        (reply.time.value, catalogue.numbers.of_machine_and_case(machine, reply.number.case)[reply.number.key])
        for one in QUESTIONS.values()
        for machine in catalogue.numbers.machines()
        if (reply := on(catalogue, one, machine)) is not None and reply.is_bound
    ]
    assert bounds
    assert [bound for bound, _ in bounds] == [shown.bounded_cost.high for _, shown in bounds]


def test_a_number_whose_events_do_not_add_up_answers_nothing() -> None:
    own = submission("a", suite="per-event", noise_floor_ns=1.0)
    number(own, Estimate(100.0, 90.0, 110.0), ENTRY, faults=(ADD_UP,))
    assert of_all_machines(catalogue_of(own), ASKED) is None


def test_a_machine_answers_with_the_first_case_that_it_measured() -> None:
    known = catalogue_of(
        machine("a", count=(70.0, 60.0, 80.0), entry=(50.0, 40.0, 60.0)), machine("b", count=(9, 8, 10))
    )
    cases = [reply.number.case for name in ("a", "b") if (reply := on(known, ASKED, name))]
    assert cases == [ENTRY, COUNT]


def test_where_the_first_tracer_has_nothing_the_next_answers() -> None:
    own = submission("a", suite="per-event", noise_floor_ns=1.0)
    number(own, Estimate(60.0, 50.0, 70.0), ENTRY, "libbpf")
    reply = on(catalogue_of(own), ASKED, "a")
    assert reply is not None
    assert reply.number.tracer == "libbpf"


def test_what_strace_stops_is_told_per_system_call_and_not_per_iteration() -> None:
    own = submission("a", suite="per-event", noise_floor_ns=1.0)
    number(own, Estimate(4e4, 3e4, 5e4), CALL, "strace")
    known = catalogue_of(own)
    asked = question(known, f"strace.{CALL}")
    assert asked is not None
    assert asked.unit == "system call"
    found = of_all_machines(known, asked)
    assert found is not None
    assert found.time.value == 2e4


def test_a_question_that_no_suite_has_is_none() -> None:
    assert question(catalogue_of(), "bpftrace.99-nothing") is None
    assert question(catalogue_of(), "nonsense") is None


def test_every_named_question_is_of_cases_that_suites_have(catalogue: Catalogue) -> None:
    known = {one.id for one in catalogue.cases()}
    asked = {name.partition("@")[0] for one in QUESTIONS.values() for name in one.cases}
    assert asked <= known


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("", "100\u00a0ns (30 to 110\u00a0ns on 2 physical machines)"),
        ("/range", "30 to 110\u00a0ns on 2 physical machines"),
        ("/1k", "0.010\u00a0% (0.0030 to 0.011\u00a0% on 2 physical machines)"),
    ],
)
def test_a_page_is_told_the_median_with_the_range_or_what_a_busy_thread_loses(form: str, text: str) -> None:
    known = catalogue_of(machine("a", entry=(100.0, 90.0, 110.0)), machine("b", entry=(50.0, 30.0, 60.0)))
    key = f"question/bpftrace.{ENTRY}{form}"
    assert facts(known, [key])[key]["text"] == text


QUOTED = re.compile(r'number "([a-z-]+)\.([a-z0-9-]+)\.(?:cost|cost-interval|slowdown@\w+|threshold-\d+)"')
OF_ONE_RUN = {"01-entry-nothing": "In one run of the suite"}
"""Cases that a chapter quotes beside others of their own run, and what it says of that."""


def test_the_guide_quotes_one_case_for_one_probe_with_one_action_and_names_the_run_of_any_other(
    catalogue: Catalogue,
) -> None:
    cases = {one.id: one for one in catalogue.cases()}
    quoted: dict[tuple[object, ...], set[str]] = {}
    for path in sorted((PROJECT / "content/guide").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for tracer, name in QUOTED.findall(text):
            if name in OF_ONE_RUN:
                assert OF_ONE_RUN[name] in text
            elif (case := cases.get(name)) and not case.parts and case.like is None:
                quoted.setdefault((tracer, case.probe, case.action, case.functions), set()).add(name)
    assert len(quoted) > 20
    assert [names for names in quoted.values() if len(names) > 1] == []


def test_pages_ask_for_their_questions_with_their_forms(tmp_path: Path) -> None:
    asked = '{{< question "tracepoint" >}} {{< question "tracepoint" range >}} {{< question "a.b" "99" >}}'
    (tmp_path / "page.md").write_text(asked)
    assert sorted(asked_for(written(tmp_path))) == [
        "question/a.b/99",
        "question/tracepoint",
        "question/tracepoint/range",
    ]
    assert asked_for(written(PROJECT / "content"))


@pytest.mark.parametrize("form", ["10K", "foo", "range/1k"])
def test_a_form_that_is_none_has_no_answer_so_that_the_build_names_its_place(form: str) -> None:
    known = catalogue_of(machine("a", entry=(100.0, 90.0, 110.0)))
    assert f"question/bpftrace.{ENTRY}/{form}" not in facts(known, [f"question/bpftrace.{ENTRY}/{form}"])


def test_a_case_that_no_suite_has_any_more_answers_nothing() -> None:
    own = submission("a", suite="gone", noise_floor_ns=1.0)
    number(own, Estimate(100.0, 90.0, 110.0), "02-usdt-compiled-in", "dormant")
    assert on(catalogue_of(own), QUESTIONS["dormant"], "a") is None
