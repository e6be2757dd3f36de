"""Of which classes the instructions of an event are: by its own path, by those of other cases, or by the average."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers.evidence_builder import TRACER, case, evidence, measured, suite
from helpers.number_builder import number, submission
from probe_effect.costs.instructions import RecordedClasses, classes_of, recorded
from probe_effect.model import Estimate, Key
from probe_effect.store.places import SubmissionFolder
from probe_effect.store.result_tables import USER, Classes, EventPath, add_paths

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.numbers.submission import Number

SUITE = suite(
    "loops",
    case("kprobe", "kprobe", needs=["kprobe"]),
    case("stack", "kprobe", "count-by-user-stack"),
    case("entry", "tracepoint-entry"),
    case("entry-stack", "tracepoint-entry", "count-by-user-stack"),
    case("entry-string", "tracepoint-entry", "count-by-string"),
    case("usdt", "usdt"),
)
CASES = {one.id: one for one in SUITE.cases}
KPROBE = Classes(300, indirect=2, returns=10)
STACK = Classes(800, traps=1, indirect=8, returns=20)
ENTRY = Classes(400, repetitions=40, indirect=1, returns=12)


def path(
    of: Classes, probe: str, action: str = "nothing", kernel: str = "6.12.1", tool: str = TRACER
) -> RecordedClasses:
    return RecordedClasses("x86_64", kernel, tool, probe, action, of)


PATHS = [path(KPROBE, "kprobe"), path(STACK, "kprobe", "count-by-user-stack"), path(ENTRY, "tracepoint-entry")]


def count(instructions: float, name: str, tracer: str = TRACER) -> Number:
    own = submission("emulated", metric="instructions", document={"system__kernel_release": "6.12.2"})
    return number(own, Estimate(instructions), name, tracer)


def classes(instructions: float, name: str, *known: RecordedClasses) -> Classes:
    return Classes._make(classes_of(known, CASES[name], count(instructions, name)))


def test_a_path_of_two_events_is_scaled_to_the_count_of_one() -> None:
    assert classes(200, "entry", *PATHS) == (200, 20, 0, 0.5, 6, 0, 0)


def test_the_nearest_kernels_path_counts_and_there_the_same_tools() -> None:
    others = [path(STACK, "kprobe", kernel="5.10.1"), path(ENTRY, "kprobe", tool="perf")]
    assert classes(300, "kprobe", *others, *PATHS) == KPROBE
    assert classes(400, "kprobe", *others) == ENTRY


def test_what_another_architecture_executes_says_nothing() -> None:
    assert classes(300, "kprobe", *(one._replace(architecture="aarch64") for one in PATHS)) == Classes(300)


def test_an_action_without_a_path_adds_to_its_probe_what_it_adds_to_a_kprobe() -> None:
    added = 800 - 300
    found = classes(400 + added, "entry-stack", *PATHS)
    assert (found.traps, found.indirect, found.returns) == (1, 1 + 6, 12 + 10)
    assert found.instructions == 400 + added
    fewer = classes(200 + added, "entry-stack", *PATHS)
    assert (fewer.traps, fewer.returns) == (1, 6 + 10)


def test_instructions_of_an_action_that_nobody_recorded_are_plain() -> None:
    assert classes(4000, "entry-string", *PATHS) == ENTRY._replace(instructions=4000)


def test_a_probe_that_nobody_recorded_has_the_average_and_no_fault() -> None:
    found = classes(1500, "usdt", *PATHS)
    assert (found.instructions, found.traps) == (1500, 0)
    assert (found.indirect, found.returns) == pytest.approx((11, 42))


def test_without_any_path_all_instructions_are_plain() -> None:
    assert classes(300, "usdt") == Classes(300)


def test_paths_are_read_beside_their_counts_and_the_exception_of_the_probe_is_no_fault(tmp_path: Path) -> None:
    document = {"run__mechanisms": {f"kprobe {TRACER}": "trap"}}
    own = submission("emulated", metric="instructions", document=document, files=SubmissionFolder(tmp_path))
    untraced = Classes(1000, traps=0, returns=30)
    both = [
        (Key("baseline", "none", None), untraced),
        (Key("kprobe", TRACER, None), untraced.plus(STACK).plus(Classes(traps=1))),
    ]
    events = [EventPath(key, {(USER,): of}, 400, 404, float(of.instructions), {}) for key, of in both]
    add_paths(own.files.paths, events)
    found = evidence((SUITE,), measured("kprobe", Estimate(300.0, 290.0, 310.0)))
    found.counts["kprobe"] = [number(own, Estimate(800.0), "kprobe", TRACER)]
    (one,) = recorded(found)
    assert one[:5] == ("x86_64", own.document.system.kernel_release, TRACER, "kprobe", "nothing")
    assert one.classes == STACK
