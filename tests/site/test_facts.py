"""Numbers that hand-written pages quote: their keys, their words, and where they lead."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from helpers.builders import (
    COUNTED_FOLDER,
    COUNTED_MACHINE,
    FOLDER,
    MACHINE,
    PROJECT,
    changed,
    counted_rows,
    counted_values,
    machine_values,
    many_blocks,
    write_counted_submission,
    write_submission,
)
from helpers.evidence_builder import rows_of
from probe_effect.model import Key
from probe_effect.numbers import names, shown
from probe_effect.numbers.catalogue import Catalogue, read_catalogue
from probe_effect.site.assemble import labels
from probe_effect.site.facts import asked_for, facts, written
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.result_tables import USER, Classes, EventPath, add_paths

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Sample
    from probe_effect.site.facts import Fact

GAP = "\u00a0"
PLACE = f"/results/{MACHINE}/{FOLDER}/02-kprobe/bpftrace/"


def read(data: Path) -> Catalogue:
    return read_catalogue(DataFolder(data))


def plain(fact: Fact) -> str:
    """The text with ordinary spaces."""
    return fact["text"].replace(GAP, " ")


def two_cases(cost_ns: float = 50) -> list[Sample]:
    """Blocks with a kprobe and a uprobe, which costs 900 ns."""
    kprobe = many_blocks(cost_ns=cost_ns)
    uprobe = [replace(row, position=3) for row in rows_of("06-uprobe", 900) if row.arm == "traced"]
    return sorted([*kprobe, *uprobe], key=lambda row: (row.block, row.position))


def test_numbers_that_a_sentence_compares_are_of_the_first_machine_that_has_all_of_them(data: Path) -> None:
    perf = [replace(row, tracer="perf-stat", position=4) for row in two_cases() if row.case == "06-uprobe"]
    both = sorted([*two_cases(), *perf], key=lambda row: (row.block, row.position))
    values = changed(machine_values(), "machine.id", "other-0002")
    write_submission(data, both, changed(values, "tools", {"bpftrace": "bpftrace v0.23.2", "perf-stat": "perf 6.1"}))
    key, other = "bpftrace.02-kprobe.cost", "perf-stat.06-uprobe"
    found = facts(read(data), [f"{key}/with/{other}", f"{key}/with/bpftrace.99-absent"])
    assert found[key]["href"].startswith(f"/results/{MACHINE}/")
    assert found[f"{key}/with/{other}"]["href"].startswith("/results/other-0002/")
    assert f"{key}/with/bpftrace.99-absent" not in found


def test_untraced_times_and_noise_name_their_suite(data: Path) -> None:
    found = facts(read(data))
    assert {key for key in found if key.startswith(("baseline", "noise-floor"))} == {
        "baseline.per-event",
        "noise-floor.per-event",
    }


def test_a_rate_of_a_traced_program_says_so_and_its_own_is_another(data: Path) -> None:
    found = facts(read(data))
    assert "bpftrace.02-kprobe.rate" not in found
    assert plain(found["bpftrace.02-kprobe.traced-rate"]).endswith("/s while traced")
    assert "traced" not in found["bpftrace.02-kprobe.untraced-rate"]["text"]


def test_a_tool_that_stops_every_call_has_costs_of_an_iteration_and_of_a_call_and_none_of_an_event(
    catalogue: Catalogue,
) -> None:
    found = facts(catalogue)
    unsaid = {f"strace.22-system-call.{what}" for what in ("cost", "cost-interval", "fastest")}
    assert unsaid & found.keys() == set()
    assert plain(found["strace.22-system-call.cost-per-iteration"]).endswith("per iteration of 2 system calls")
    assert plain(found["strace.22-system-call.cost-per-system-call"]).endswith("per system call")


def test_the_cost_of_an_iteration_over_that_of_an_event_is_no_ratio(catalogue: Catalogue) -> None:
    ratios = ("strace.22-system-call/bpftrace.04-tracepoint-entry", "strace.22-system-call/perf-trace.22-system-call")
    found = facts(catalogue, ratios)
    assert [one in found for one in ratios] == [False, True]


def test_a_count_of_the_series_has_the_name_of_its_point_release(data: Path) -> None:
    for machine, kernel, count, words in (("a", "6.12.107+deb13", 640, []), ("b", "6.12.43+deb12", 700, ["--case"])):
        values = counted_values(f"{kernel}-amd64", f"qemu-{machine}")
        values["run"]["command"] += words
        write_counted_submission(data, counted_rows({"02-kprobe libbpf": count}), values)
    found = facts(read(data))
    asked = [f"instructions.{kernel}.libbpf.02-kprobe" for kernel in ("6.12", "6.12.107", "6.12.43")]
    assert [plain(found[one]) for one in asked] == ["640", "640", "700"]


def test_the_share_of_a_count_that_functions_of_one_purpose_execute_is_made_where_a_page_asks(data: Path) -> None:
    files = SubmissionFolder(write_counted_submission(data, counted_rows({"02-kprobe bpftrace": 200})))
    traced = {(USER,): Classes(1000), (USER, "kprobe_ftrace_handler"): Classes(150), (USER, "other_work"): Classes(50)}
    untraced = EventPath(Key("baseline", "none"), {(USER,): Classes(1000)}, 9, 9, 1000.0, {})
    add_paths(files.paths, [EventPath(Key("02-kprobe", "bpftrace"), traced, 9, 9, 1200.0, {}), untraced])
    count = "instructions.6.1.bpftrace.02-kprobe"
    asked = [f"{count}/part/{purpose}" for purpose in ("kprobe-and-ftrace", "uprobe", "nothing")]
    found = facts(read(data), asked)
    assert [plain(found[one]) if one in found else None for one in asked] == ["75 %", None, None]
    assert found[asked[0]]["title"] == found[count]["title"]


QUOTED = re.compile(r'{{[<%] number "([^"]+)"')
WAITING = re.compile(r"{{< known .*?{{< /known >}}", re.DOTALL)
"""What pages say once somebody has measured it (tests/project/test_the_day.py)."""


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.deep), 10])
@pytest.mark.deep
def test_the_guide_has_its_numbers_whichever_machine_becomes_the_home_machine(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    content = PROJECT / "content"
    texts = [WAITING.sub("", page.read_text(encoding="utf-8")) for page in content.rglob("*.md")]
    quoted = {key for text in texts for key in QUOTED.findall(text)}
    for machine, submissions in list(catalogue.numbers.machines().items())[::step]:
        other = replace(catalogue)
        monkeypatch.setattr(shown, "reference_submission", {other.numbers: shown.representative(submissions)}.get)
        assert quoted - facts(other, asked_for(written(content))).keys() == set(), machine


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("cost", "50.0 ns"),
        ("fastest", "50.0 ns"),
        ("slowdown", "50 %"),
        ("threshold-1", "200 k events/s"),
        ("threshold-5", "1.0 M events/s"),
        ("threshold-30", "6.0 M events/s"),
        ("slowdown@10k", "0.050 %"),
    ],
)
def test_each_quantity_of_a_measured_number_is_a_fact_that_leads_to_its_page(data: Path, key: str, text: str) -> None:
    fact = facts(read(data))[f"bpftrace.02-kprobe.{key}"]
    assert plain(fact) == text
    assert fact["href"] == f"{PLACE}#{key.partition('@')[0]}"
    assert fact["kind"] == "measured"
    assert "Example, machine" in fact["title"]


def test_the_interval_of_a_cost_is_in_its_title_and_its_cell(data: Path) -> None:
    longer = [
        replace(row, wall_ns=(row.wall_ns or 0) + 100 * row.block * (row.arm == "traced")) for row in many_blocks()
    ]
    shutil.rmtree(data / "results")
    write_submission(data, longer)
    fact = facts(read(data))["bpftrace.02-kprobe.cost"]
    assert "(" not in fact["text"]
    assert fact["cell"].startswith(fact["text"])
    assert fact["cell"].endswith(")")
    assert fact["title"].startswith(fact["cell"])


def test_a_cost_that_is_none_is_said_to_lie_below_what_could_be_seen(data: Path) -> None:
    shutil.rmtree(data / "results")
    write_submission(data, many_blocks(cost_ns=0))
    found = facts(read(data))
    assert plain(found["bpftrace.02-kprobe.cost"]).startswith("less than ")
    assert "not distinguishable from 0" in found["bpftrace.02-kprobe.cost-interval"]["text"]
    assert "bpftrace.02-kprobe.threshold-5" not in found


def test_what_does_not_add_up_is_no_fact(data: Path) -> None:
    shutil.rmtree(data / "results")
    write_submission(data, many_blocks(seen=10))
    assert [key for key in facts(read(data)) if key.startswith("bpftrace.")] == []


def test_a_number_comes_from_the_reference_machine_and_else_from_another(data: Path) -> None:
    other = changed(machine_values(), "machine.id", "other-machine")
    write_submission(data, two_cases(cost_ns=70), changed(other, "machine.nested", value=True))
    found = facts(read(data))
    assert plain(found["bpftrace.02-kprobe.cost"]) == "50.0 ns"
    assert "/other-machine/" in found["bpftrace.06-uprobe.cost"]["href"]


def test_a_number_says_which_machine_it_is_of_even_where_machines_have_one_name(data: Path) -> None:
    other = changed(machine_values(), "machine.id", "example-2t-f00d")
    write_submission(data, two_cases(cost_ns=70), changed(other, "machine.nested", value=True))
    found = facts(read(data))
    assert found["bpftrace.02-kprobe.machine"]["title"] == found["machine"]["text"]
    assert found["bpftrace.06-uprobe.machine"]["text"] == "Example, f00d"
    assert found["bpftrace.06-uprobe.machine"]["title"].endswith(", f00d")
    assert found["bpftrace.06-uprobe.machine"]["href"] == "/machines/example-2t-f00d/"
    assert found["bpftrace.06-uprobe.cost"]["machine"] == found["bpftrace.06-uprobe.machine"]["title"]


def test_a_ratio_is_of_two_costs_of_one_submission_and_made_when_asked_for(data: Path) -> None:
    shutil.rmtree(data / "results")
    write_submission(data, two_cases())
    key = "bpftrace.06-uprobe/bpftrace.02-kprobe"
    assert key not in facts(read(data))
    fact = facts(read(data), [key])[key]
    assert plain(fact) == "18.0 times"
    assert fact["href"].endswith("/06-uprobe/bpftrace/#cost")
    assert "over" in fact["title"]


def test_the_difference_of_two_costs_of_one_submission_is_told_with_both(data: Path) -> None:
    shutil.rmtree(data / "results")
    write_submission(data, two_cases())
    key = "bpftrace.06-uprobe/less/bpftrace.02-kprobe"
    fact = facts(read(data), [key])[key]
    assert plain(fact) == "850 ns"
    assert "less" in fact["title"]


def test_what_a_published_cost_has_more_than_ours_is_told(data: Path, catalogue: Catalogue) -> None:
    source = next(source for source in catalogue.sources if any(one.cost_ns for one in source.figures))
    figure = next(one for one in source.figures if one.cost_ns)
    shutil.rmtree(data / "results")
    write_submission(data, two_cases())
    known = replace(read(data), sources=(source,))
    key = f"{source.id}.{figure.figure}/less/bpftrace.02-kprobe"
    assert facts(known, [key])[key]["title"].startswith(f"{figure.what} less 50")
    assert f"{source.id}.gone/less/bpftrace.02-kprobe" not in facts(
        known, [f"{source.id}.gone/less/bpftrace.02-kprobe"]
    )


def test_there_is_no_ratio_of_costs_of_two_submissions(data: Path) -> None:
    other = changed(machine_values(), "machine.id", "other-machine")
    write_submission(data, rows_of("06-uprobe", 900), other)
    key = "bpftrace.06-uprobe/bpftrace.02-kprobe"
    assert key not in facts(read(data), [key])


def test_a_page_may_quote_a_run_that_is_no_longer_current(data: Path) -> None:
    write_submission(data, many_blocks(cost_ns=70), folder="2026-12-01-per-event")
    key = f"{MACHINE}/{FOLDER}/bpftrace.02-kprobe"
    known = facts(read(data), [f"{key}.cost", f"{key}.nothing", f"gone/{FOLDER}/bpftrace.02-kprobe.cost"])
    assert plain(known[f"{key}.cost"]) == "50.0 ns"
    assert known[f"{key}.cost"]["href"].startswith(PLACE)
    assert not {one for one in known if one.startswith("gone/") or one.endswith(".nothing")}


def test_counts_of_instructions_are_facts_by_kernel_series(data: Path) -> None:
    write_counted_submission(data)
    key, other = "instructions.6.1.bpftrace.02-kprobe", "instructions.6.1.libbpf.19-fentry"
    found = facts(read(data), [f"{key}/{other}"])
    assert found[key]["text"] == "640"
    assert found[key]["href"] == f"/results/{COUNTED_MACHINE}/{COUNTED_FOLDER}/02-kprobe/bpftrace/#instructions"
    assert found[key]["kind"] == "counted"
    assert plain(found[f"{key}/{other}"]) == "6.7 times"


def test_a_published_figure_leads_to_its_row_and_has_its_unit(data: Path) -> None:
    found = facts(read(data), ["a-talk.traced/a-talk.plain", "a-talk.plain/a-talk.calls"])
    assert plain(found["a-talk.plain"]) == "2 s"
    assert found["a-talk.plain"]["href"] == "/sources/a-talk/#plain"
    assert found["a-talk.plain"]["kind"] == "published"
    assert plain(found["a-talk.traced/a-talk.plain"]) == "1.5 times"
    assert "a-talk.plain/a-talk.calls" not in found


def test_what_was_worked_out_here_is_no_published_figure(data: Path) -> None:
    found = facts(read(data), ["a-talk.traced/a-talk.plain"])
    derived = ("a-talk.cost", "a-talk.printed_cost.recomputed", "a-talk.traced/a-talk.plain")
    assert {found[key]["kind"] for key in derived} == {"derived"}
    assert "worked out here" in found["a-talk.cost"]["title"]


def test_a_figure_printed_without_its_unit_gets_it(catalogue: Catalogue) -> None:
    found = facts(catalogue)
    assert plain(found["nakryiko-2024-uprobe-rcu.time_baseline_1"]) == "330 ns"
    assert plain(found["nakryiko-2024-uprobe-rcu.time_baseline_64"]).startswith("about ")
    assert plain(found["gregg-2011-pid-provider.cost_count"]) == "0.598 microseconds"
    assert plain(found["gregg-2011-pid-provider.ff_rate"]) == "131\u202f119 events/s"


def test_how_much_data_there_is_is_counted(data: Path) -> None:
    found = facts(read(data))
    assert found["count.rows"]["text"] == "25"  # one of them skipped
    assert found["count.machines"]["text"] == "1"
    assert found["count.figures"]["text"] == "5"


def test_several_threads_have_a_factor_by_their_own_case_and_by_the_one_whose_event_it_is(catalogue: Catalogue) -> None:
    found = facts(catalogue)
    own = found["bpftrace.05-threads-uprobe-read.threads-2"]
    assert own == found["bpftrace.06-uprobe.threads-2"]
    assert own["text"].endswith("times")


def test_what_a_frame_adds_is_of_a_machine_that_varied_the_depth(catalogue: Catalogue) -> None:
    key = "perf-record.06-sample-record-stack"
    with_depth = {one.machine for one in catalogue.everything if one.suite == "sampling-depth"}
    with_samples = {one.machine for one in catalogue.everything if one.suite == "sampling" and one.metric == "time"}
    assert with_samples - with_depth, "a machine with samples alone is what makes it hard"
    assert facts(catalogue)[f"{key}.per-frame"]["place"] in {names.short_id(machine) for machine in with_depth}


def test_what_single_operations_take_stands_beside_the_untraced_ones_of_the_same_blocks(catalogue: Catalogue) -> None:
    found = facts(catalogue)
    one = "bpftrace.01-tail-tracepoint"
    assert {f"{one}.{word}{what}" for word in ("", "untraced-") for what in ("tail-99.9", "longest")} <= set(found)
    assert found[f"{one}.tail-50"]["machine"] == found[f"{one}.untraced-tail-50"]["machine"]
    assert not any(".tail-" in key for key in found if ".02-kprobe." in key)


@pytest.mark.deep
def test_at_how_many_rates_the_line_holds_is_told_of_a_suite_that_varies_them(catalogue: Catalogue) -> None:
    found = facts(catalogue)
    held, _, of = found["bpftrace.03-sweep-uprobe.rates-held"]["text"].partition(" of ")
    assert 0 <= int(held) <= int(of)
    assert "bpftrace.02-kprobe.rates-held" not in found


def test_a_suite_of_starts_has_no_costs(catalogue: Catalogue) -> None:
    found = facts(catalogue)
    assert "bpftrace.02-one-probe.start" in found
    assert "bpftrace.02-one-probe.cost" not in found


def test_what_pages_quote_is_found_with_the_units_that_they_want(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        'x {{< number "a.b/c.d" >}} y {{<number "one" µs >}} {{< number "one" same >}} {{< known "two" "three" >}}',
        encoding="utf-8",
    )
    assert asked_for(written(tmp_path)) == {"a.b/c.d": set(), "one": {"µs"}, "two": set(), "three": set()}
    assert asked_for(written(PROJECT / "content"))


def test_every_suite_and_source_that_a_chapter_may_stand_on_has_a_label(data: Path) -> None:
    found = labels(read(data))
    assert found["suites"]["per-event"]["href"] == "/suites/per-event/"
    assert found["sources"]["a-talk"]["href"] == "/sources/a-talk/"
