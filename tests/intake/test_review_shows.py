"""What a review says that a submission shows: what it is the first to time, and how it agrees."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from evidence.honest import write
from helpers.builders import REAL_DATA
from helpers.site_build import OWN_KEPT
from helpers.the_day import the_day
from probe_effect.intake.changes import Beside, Shows, _named, shows
from probe_effect.model import Estimate, Key
from probe_effect.numbers.catalogue import Catalogue, read_catalogue, read_submissions
from probe_effect.store.places import DataFolder, SubmissionFolder

if TYPE_CHECKING:
    from probe_effect.numbers.submission import Submission

KEY = Key("02-kprobe", "bpftrace", None)


@pytest.fixture(scope="module")
def base() -> Catalogue:
    return read_catalogue(DataFolder(REAL_DATA, OWN_KEPT))


@pytest.fixture(scope="module")
def made(base: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Shows:
    """Of bare metal with kprobes."""
    given = next(iter(the_day()))
    files = SubmissionFolder(tmp_path_factory.mktemp("data") / "results" / given.name)
    write(given, files)
    (new,) = read_submissions([files], DataFolder(REAL_DATA), [])
    return shows(new, base)


def one_of(lines: tuple[str, ...], start: str) -> str:
    return next(line for line in lines if line.startswith(start))


def test_times_that_no_machine_had_are_named_with_their_intervals(made: Shows) -> None:
    line = one_of(made.lines, "First times, of one event")
    assert "Kprobe 47" in line
    assert re.search(r"; and \d+ more\.$", line)


def test_a_kind_of_machine_that_had_none_is_told_by_how_many_cases_it_has(made: Shows) -> None:
    assert "(physical, x86-64)" in one_of(made.lines, "First times on a machine of this kind")


def test_its_costs_are_laid_beside_what_others_printed_and_what_was_estimated(made: Shows) -> None:
    printed = [one for one in made.beside if one.is_printed]
    assert str(len(printed)) in one_of(made.lines, "Others printed")
    assert one_of(made.lines, "Estimates from counts, on trial").endswith(("the model stands.", "on this machine."))
    assert {one.key.case for one in made.beside if not one.is_printed} >= {"02-kprobe", "19-fentry"}


def test_all_is_said_in_a_few_lines(made: Shows) -> None:
    assert len(made.lines) <= 4
    assert max(map(len, made.lines)) <= 400


def test_a_line_that_would_be_too_long_ends_with_a_whole_item_and_how_many_are_left_out() -> None:
    items = [f"{letter}{'x' * 148}" for letter in "abcd"]
    assert _named("First", items) == f"First: {items[0]}; {items[1]}; and 2 more."
    assert _named("First", ["a", "b"]) == "First: a; b."


def test_a_published_guest_that_is_sent_again_is_first_in_nothing(base: Catalogue) -> None:
    guests: list[Submission] = [one for one in base.timed if one.suite == "per-event"]
    machine = guests[0].machine
    without = replace(base, active=tuple(one for one in base.active if one.machine != machine))
    found = shows(guests[0], without)
    assert not any(line.startswith("First times, of one event: Tracepoint") for line in found.lines)
    assert any(not one.is_printed for one in found.beside)


def test_counted_instructions_show_no_times(base: Catalogue) -> None:
    assert shows(base.counted[0], base) == Shows()


@pytest.mark.parametrize(("value", "holds", "times"), [(50.0, False, 0.5), (150.0, True, 0.75), (400.0, False, 2.0)])
def test_a_cost_lies_inside_or_so_many_times_the_nearer_end(value: float, holds: bool, times: float) -> None:
    found = Beside(KEY, Estimate(value, value, value), Estimate(100.0, 100.0, 200.0), is_printed=True)
    assert found.holds is holds
    assert found.times == times
