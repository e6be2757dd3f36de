"""How long so many probes take to attach and to stop: on the line between the numbers that were measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.builders import REAL_DATA
from helpers.number_builder import number, submission
from probe_effect.answer.prediction import starting
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
from probe_effect.store.suite_file import read_suite

if TYPE_CHECKING:
    from probe_effect.answer.prediction import Starting

TIMES_MS = {"1": (100, 10), "10": (109, 100), "100": (199, 1000)}
"""Probes to the time to start and to stop: 1 ms more to start for each."""


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    suite, _ = read_suite(REAL_DATA / "suites" / "attach", "attach")
    assert suite is not None
    own, other = submission("own", suite="attach"), submission("other", suite="attach")
    for level, times_ms in TIMES_MS.items():
        start, stop = (Estimate(ms * 1e6, ms * 0.9e6, ms * 1.1e6) for ms in times_ms)
        number(own, Estimate(0.0), "02-attach-uprobes", level=level, attach=start, detach=stop, probes=int(level))
    number(other, Estimate(0.0), "02-attach-uprobes", level="1", attach=Estimate(1e6), detach=Estimate(1e6), probes=1)
    return Catalogue(suites=(SuiteFolder(Path("attach"), suite),), active=(other, own))


def found(catalogue: Catalogue, probes: int, kind: str = "uprobe", *machines: str) -> Starting | None:
    return starting(catalogue, machines or ("own",), "bpftrace", kind, probes)


@pytest.mark.parametrize(("probes", "start_ms"), [(1, 100), (5, 104), (10, 109), (55, 154), (100, 199), (1000, 1099)])
def test_between_two_numbers_and_beyond_the_last_the_line_goes_on(
    catalogue: Catalogue, probes: int, start_ms: float
) -> None:
    said = found(catalogue, probes)
    assert said is not None
    assert said.start.value == pytest.approx(start_ms * 1e6)
    assert said.start.low == pytest.approx(start_ms * 0.9e6)


def test_below_the_first_number_it_takes_as_long(catalogue: Catalogue) -> None:
    said = found(catalogue, 0)
    assert said is not None
    assert said.stop.value == 10e6


def test_every_probe_of_a_program_attaches_as_a_user_probe(catalogue: Catalogue) -> None:
    assert found(catalogue, 5, "usdt") == found(catalogue, 5, "uretprobe") == found(catalogue, 5)


def test_a_machine_that_has_one_number_only_draws_no_line_and_the_next_one_answers(catalogue: Catalogue) -> None:
    assert found(catalogue, 5, "uprobe", "other") is None
    said = found(catalogue, 5, "uprobe", "other", "own")
    assert said is not None
    assert said.machine == "own"


def test_what_nobody_measured_has_no_answer(catalogue: Catalogue) -> None:
    assert found(catalogue, 5, "kprobe") is None
    assert found(catalogue, 5, "tracepoint-entry") is None
