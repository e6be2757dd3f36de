"""The companion's tables: how often things happen, and D beside bpftrace."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from helpers.builders import REAL_DATA
from helpers.number_builder import number, submission
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.shown import home_numbers
from probe_effect.site.pages import guide_fragments

if TYPE_CHECKING:
    from collections.abc import Mapping

SCRIPT = re.compile(r'\{\{< script "([^"]+)" line >\}\}')


@pytest.fixture(scope="module")
def written(catalogue: Catalogue) -> Mapping[str, str]:
    return guide_fragments.write_all(catalogue)


def test_an_event_in_every_two_microseconds_of_the_untraced_program_is_half_a_million_a_second() -> None:
    one = number(submission(), Estimate(1.0), baseline=Estimate(2000.0))
    assert guide_fragments.rate_hz(one) == 500_000


def test_rates_are_of_one_machine_and_one_tool_the_most_frequent_first(catalogue: Catalogue) -> None:
    counted = guide_fragments.event_rates(catalogue)
    assert counted
    assert len({one.submission.machine for numbers in counted.values() for one in numbers}) == 1
    for numbers in counted.values():
        rates = [guide_fragments.rate_hz(one) for one in numbers]
        assert rates == sorted(rates, reverse=True)
        assert len({one.tracer for one in numbers}) == 1


def test_rates_are_of_the_numbers_that_pages_quote(catalogue: Catalogue) -> None:
    quoted = home_numbers(catalogue.numbers)
    assert all(quoted[one.name] is one for own in guide_fragments.event_rates(catalogue).values() for one in own)


def test_every_program_has_a_row_with_its_rates(catalogue: Catalogue, written: Mapping[str, str]) -> None:
    text = written["event-rates.md"]
    programs = {one.level for own in guide_fragments.event_rates(catalogue).values() for one in own}
    assert programs
    assert all(f"| {program} |" in text for program in programs)


def test_a_pair_is_shown_with_the_scripts_that_were_run(written: Mapping[str, str]) -> None:
    shown = SCRIPT.findall(written["d-and-bpftrace.md"])
    assert shown
    assert [path.endswith(".d") for path in shown] == [True, False] * (len(shown) // 2)
    assert all((REAL_DATA / "suites" / path).is_file() for path in shown)
    plain = [path for path in shown if path.endswith(".d") and not path.endswith(".linux.d")]
    assert not any((REAL_DATA / "suites" / path.replace(".d", ".linux.d")).exists() for path in plain)


def test_the_two_costs_of_a_pair_are_of_one_machine(catalogue: Catalogue) -> None:
    for case in catalogue.cases():
        for metric in ("time", "instructions"):
            both = guide_fragments.of_both(catalogue.numbers.of_case(case.id, metric))
            assert set(both) in (set(), {"dtrace", "bpftrace"})
            assert len({one.submission.machine for one in both.values()}) <= 1
            assert all(names.tool_of(one.tracer) == tool for tool, one in both.items())


def test_without_data_both_tables_say_so() -> None:
    made = guide_fragments.write_all(Catalogue())
    assert "probe-effect measure programs" in made["event-rates.md"]
    assert "No case has been measured in both languages yet" in made["d-and-bpftrace.md"]
