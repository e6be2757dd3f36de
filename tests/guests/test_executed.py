"""What pages and `compare` say of the instructions that an event executes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from helpers.builders import write_counted_submission
from probe_effect import units
from probe_effect.costs.instructions import AddedPath, differences, paths_of, plain, purpose_of, purposes
from probe_effect.model import Key
from probe_effect.numbers.catalogue import read_submission
from probe_effect.site.pages import instructions
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.result_tables import USER, Classes, EventPath, Stack, add_paths

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CALL = (USER, "do_syscall_64", "vfs_read")
ADDED: dict[Stack, Classes] = {
    (*CALL, "ftrace_trampoline"): Classes(60, flags=2),
    (*CALL, "ftrace_trampoline", "kprobe_ftrace_handler"): Classes(80),
    (*CALL, "ftrace_trampoline", "kprobe_ftrace_handler", "trace_call_bpf.isra.0"): Classes(54, indirect=1),
    (*CALL, "ftrace_trampoline", "kprobe_ftrace_handler", "trace_call_bpf.isra.0", "(BPF program)"): Classes(6),
}


def path(stacks: Mapping[Stack, Classes]) -> AddedPath:
    """What a traced event executes more."""
    event = EventPath(Key("02-kprobe", "libbpf"), {(USER,): Classes(1000)} | dict(stacks), 9, 10, 1200.3, {"tick": 0.2})
    return AddedPath(event, stacks)


def test_the_sentence_says_what_the_instructions_are_for_the_most_first() -> None:
    said = instructions.sentence(path(ADDED)).replace(units.GAP, " ")
    assert said == (
        "Of 200 instructions that an event adds: 70 % kprobe and ftrace; 27 % call of the program; 3.0 % the program"
    )


def test_the_sentence_of_an_operation_with_several_events_names_them() -> None:
    said = instructions.sentence(path(ADDED), 2.0).replace(units.GAP, " ")
    assert said.startswith("Of 200 instructions that the 2 events of an operation add: 70 %")


def test_functions_are_summed_over_their_callers_without_what_a_compiler_adds() -> None:
    twice = ADDED | {(USER, "other", "trace_call_bpf.constprop.1"): Classes(4)}
    assert path(twice).by_function()["trace_call_bpf"].instructions == 58


def test_what_a_count_hides_is_said_and_what_is_not_there_is_not() -> None:
    assert instructions.kinds(path(ADDED)) == "1 indirect call or jump, 2 that mask interrupts or change gs"


def test_the_sum_is_set_beside_the_count_of_its_run_with_what_else_was_executed() -> None:
    alike, sum_ = instructions.agreement(path(ADDED))
    assert alike == "9 of 10 recorded events are the same, to the instruction"
    assert sum_ == "such an event executes 1200 in all, and the run 1200.3 an operation; most of the rest: tick 0.2"


def test_the_drawing_begins_where_something_is_added_and_callees_lie_below_within_their_caller() -> None:
    drawn = instructions.boxes(ADDED)
    boxes = [instructions.Box(*one) for one in drawn["boxes"]]  # type: ignore[attr-defined]
    assert [(box.depth, box.name, box.width) for box in boxes] == [
        (0, "ftrace_trampoline", 100.0),
        (1, "kprobe_ftrace_handler", 70.0),
        (2, "trace_call_bpf", 30.0),
        (3, "(BPF program)", 3.0),
    ]
    assert [box.place for box in boxes] == ["kernel", "kernel", "kernel", "program"]
    assert drawn["rows"] == 4
    for above, below in pairwise(boxes):
        assert above.left <= below.left
        assert below.left + below.width <= above.left + above.width


@pytest.mark.parametrize("stacks", [{}, {(USER, "vfs_read"): Classes(-4)}])
def test_an_event_that_adds_nothing_has_no_boxes(stacks: dict[Stack, Classes]) -> None:
    assert instructions.boxes(stacks) == {"rows": 1, "boxes": []}
    assert instructions.sentence(path(stacks)) == "An event adds no instructions"


def test_two_events_differ_by_the_functions_that_came_went_and_grew() -> None:
    before = path({(USER, "a"): Classes(10), (USER, "b"): Classes(5), (USER, "c"): Classes(1)})
    after = path({(USER, "a"): Classes(12), (USER, "c"): Classes(1), (USER, "d.part.0"): Classes(40)})
    assert differences(before, after) == {"d": (0, 40), "b": (5, 0), "a": (10, 12)}


@pytest.mark.parametrize(
    ("function", "purpose"),
    [
        ("(BPF program)", "the program"),
        ("__htab_map_lookup_elem", "maps and helpers"),
        ("migrate_disable", "staying on the CPU and RCU"),
        ("kprobe_ftrace_handler", "kprobe and ftrace"),
        ("handle_swbp", "uprobe"),
        ("syscall_trace_enter", "tracepoint and perf event"),
        ("entry_SYSCALL_64", "ways into the kernel and back"),
        ("nobody_knows_this", "other"),
    ],
)
def test_functions_have_a_purpose_by_their_names(function: str, purpose: str) -> None:
    assert purpose_of(function) == purpose
    assert purpose in purposes()


def test_what_a_compiler_adds_to_a_name_is_left_out() -> None:
    assert plain("exit_to_user_mode_prepare.isra.0.cold") == "exit_to_user_mode_prepare"


def test_a_function_that_a_release_renamed_is_no_difference() -> None:
    before, after = (path({(*CALL, name): Classes(30)}) for name in ("__memset", "__pi_memset_generic.isra.0"))
    assert differences(before, after) == {}
    assert differences(before, path({(*CALL, "__pi_memset_generic"): Classes(50)})) == {"__memset": (30, 50)}


def test_paths_of_a_submission_are_those_that_are_like_the_mean_of_their_run_less_the_untraced_one(
    tmp_path: Path,
) -> None:
    files = SubmissionFolder(write_counted_submission(tmp_path))
    submission = read_submission(files, DataFolder(tmp_path), [])
    assert submission is not None
    events = (
        (Key("02-kprobe", "bpftrace"), 1300, 1300.5),
        (Key("18-per-event", "bpftrace"), 1300, 4000.0),
        (Key("baseline", "none"), 1000, 1000.25),
    )
    add_paths(files.paths, [EventPath(key, {(USER,): Classes(own)}, 9, 9, counted, {}) for key, own, counted in events])
    (found,) = paths_of(submission).items()
    assert found[0] == Key("02-kprobe", "bpftrace")
    assert found[1].total.instructions == 300
