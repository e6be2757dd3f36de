"""What the home page says of all machines together, and of user probes by their first instruction."""

from __future__ import annotations

import re
from pathlib import Path

from evidence_builder import case, suite
from number_builder import number, submission
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
from probe_effect.numbers.home import reference_submission
from probe_effect.pages.home_page import machines_said, named, user_probes


def test_the_machines_of_all_families_and_the_emulated_ones_are_as_many_as_were_measured(catalogue: Catalogue) -> None:
    said = machines_said(catalogue)
    timed, counted = (len(catalogue.numbers.machines(metric)) for metric in ("time", "instructions"))
    assert sum(map(int, re.findall(r"(\d+) of ", said))) == timed
    assert f"{counted} emulated" in said


def test_each_first_instruction_has_one_row_and_all_are_of_the_home_machine(catalogue: Catalogue) -> None:
    found = user_probes(catalogue)
    reference = reference_submission(catalogue.numbers)
    assert reference is not None
    assert {number.submission.machine for _, number in found} <= {reference.machine}
    assert len({words for words, _ in found}) == len(found)


def test_a_home_machine_on_which_functions_begin_in_two_ways_has_a_row_for_each() -> None:
    kinds = suite(
        "per-event",
        case("pushed", "uprobe", "count", needs=["uprobe"], functions=["loop:pushed"]),
        case("loaded", "uprobe", "count", needs=["uprobe"], functions=["loop:loaded"]),
    )
    first_bytes = {"loop:pushed": "55 48 89 e5", "loop:loaded": "48 8b 05 00"}
    own = submission(suite="per-event", document={"run__functions": first_bytes})
    costs = {
        name: number(own, Estimate(cost, cost - 1, cost + 1), name) for name, cost in (("pushed", 9), ("loaded", 99))
    }
    found = user_probes(Catalogue(suites=(SuiteFolder(Path("per-event"), kinds),), active=(own,)))
    assert [one for _, one in found] == [costs["pushed"], costs["loaded"]]


def test_a_user_probe_is_named_with_what_its_first_instruction_is_to_the_kernel(catalogue: Catalogue) -> None:
    for words, one in user_probes(catalogue):
        assert named(catalogue, one).endswith(f", {words.partition(' ')[0]}")


def test_a_tool_that_acts_on_every_call_is_named_with_the_calls_of_its_event(catalogue: Catalogue) -> None:
    found = next(one for one in catalogue.numbers.current() if one.case == "22-system-call")
    assert named(catalogue, found) == f"{catalogue.titles[found.case]}, per iteration of 2 system calls"


def test_any_other_probe_is_named_by_its_title(catalogue: Catalogue) -> None:
    found = next(one for one in catalogue.numbers.current() if one.case == "04-tracepoint-entry")
    assert named(catalogue, found) == catalogue.titles[found.case]
