"""The section on kernels as Markdown: tables, findings, flags, pages of machines; and that kernel names stay text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from helpers.builders import (
    COUNTED_FOLDER,
    copy_suite,
    counted_rows,
    counted_values,
    skipped_row,
    write_counted_submission,
    write_data,
)
from helpers.written_pages import PARSER, SHORTCODE, seen, with_fragments
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.pages import site
from probe_effect.site.pages.instructions import said_of
from probe_effect.store.beside_files import Explanation
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Sample

OLD, NEW = "6.1.0-50-amd64", "6.12.107+deb13-amd64"
COSTS = {"02-kprobe bpftrace": 1072.0, "02-kprobe libbpf": 300.0, "19-fentry bpftrace": 100.0}


def submission(data: Path, kernel: str, machine: str, samples: list[Sample], **run: object) -> None:
    """What was counted in one emulated machine."""
    values = counted_values(kernel, machine)
    values["run"] |= run
    write_counted_submission(data, samples, values)


def pages_of(data: Path) -> dict[str, str]:
    catalogue = read_catalogue(DataFolder(data))
    return with_fragments(catalogue)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two kernels: one case takes fewer instructions on the second, one loses events, one is skipped."""
    data = write_data(tmp_path)
    submission(data, OLD, "qemu-old", counted_rows(COSTS, jitter_instructions=2))
    changed = counted_rows(COSTS | {"02-kprobe bpftrace": 740.0}, jitter_instructions=2)
    rows = [replace(row, seen=900, lost=100) if row.case == "19-fentry" else row for row in changed]
    rows.append(skipped_row(99, "20-fexit", "no BTF"))
    submission(data, NEW, "qemu-new", [replace(row, block=9) if row.status == "skipped" else row for row in rows])
    return data


def test_the_largest_change_is_told_in_a_sentence(data: Path) -> None:
    made = pages_of(data)
    found = seen(made["kernel-findings.md"])
    assert "From kernel to kernel, 1 of 2 pairs of counts differ by more than 1 %." in seen(made["kernels/x86-64.md"])
    said = "From Linux 6.1 to Linux 6.12, “Kprobe” with bpftrace 0.17.0 takes 31 % fewer instructions (1 072 to 740)."
    assert said in found


def test_a_change_between_versions_is_told_in_a_sentence(tmp_path: Path) -> None:
    copy_suite(tmp_path)
    values = counted_values(OLD)
    values["tools"] = {"bpftrace": "bpftrace 0.17.0", "bpftrace-0-23-2": "bpftrace 0.23.2"}
    costs = {"02-kprobe bpftrace": 400.0, "02-kprobe bpftrace-0-23-2": 500.0}
    write_counted_submission(tmp_path, counted_rows(costs), values)
    found = seen(pages_of(tmp_path)["kernel-findings.md"])
    said = "From bpftrace 0.17.0 to bpftrace 0.23.2, on Linux 6.1, “Kprobe” takes 25 % more instructions (400 to 500)."
    assert said in found


def test_the_table_of_a_tracer_has_a_row_for_each_case_and_a_column_for_each_kernel(data: Path) -> None:
    found = seen(pages_of(data)["kernels/x86-64.md"])
    assert "bpftrace 0.17.0\nCase, on Linux\n6.1\n6.12\nKprobe\n1 072\n740\n" in found


def test_a_flagged_count_is_shown_with_its_fault(data: Path) -> None:
    found = seen(pages_of(data)["kernels/x86-64.md"])
    assert "100 †" in found
    assert "“Fentry” with bpftrace 0.17.0 on Linux 6.12: it lost 10 % of its events" in found


def test_a_case_that_was_not_counted_has_its_reason_and_its_kernel(data: Path) -> None:
    assert "“Fexit” with bpftrace 0.17.0 on Linux 6.12: skipped: no BTF." in seen(pages_of(data)["kernels/x86-64.md"])


def test_what_is_the_same_of_several_cases_and_tracers_is_said_once(data: Path) -> None:
    costs = {"02-kprobe bpftrace": 740.0, "02-kprobe libbpf": 300.0}
    skipped = [
        replace(skipped_row(place, case, "no BTF"), tracer=tracer, block=9)
        for place, (case, tracer) in enumerate(product(("19-fentry", "20-fexit"), ("bpftrace", "libbpf")), start=99)
    ]
    submission(data, "7.3.4+deb13-amd64", "qemu-third", [*counted_rows(costs), *skipped])
    found = seen(pages_of(data)["kernels/x86-64.md"])
    assert "“Fentry” with bpftrace 0.17.0 and libbpf 1.1 on Linux 7.3: skipped: no BTF." in found
    assert "“Fexit” with bpftrace 0.17.0 on Linux 6.12, Linux 7.3: skipped: no BTF." in found


def test_each_case_that_changed_is_a_row_with_a_place_and_each_kernel_that_changed_one_a_column(data: Path) -> None:
    page = pages_of(data)["kernels/changes.md"]
    found = seen(page)
    assert "From kernel to kernel, on x86-64\nCase (changes)\nLinux 6.12\nKprobe (1)\n−31 %" in found
    assert "[Kprobe](/costs/02-kprobe/) [(1&#41;](#=02-kprobe) | [−31\u00a0%](/results/qemu-new/" in page
    assert "Fentry" not in found


def test_a_change_is_from_the_least_to_the_greatest_of_all_tracers(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    for kernel, machine, costs in ((OLD, "qemu-old", (400.0, 500.0)), (NEW, "qemu-new", (500.0, 400.0))):
        both = {f"02-kprobe {tracer}": cost for tracer, cost in zip(("bpftrace", "libbpf"), costs, strict=True)}
        submission(data, kernel, machine, counted_rows(both))
    found = seen(pages_of(data)["kernels/changes.md"])
    assert ": 2, half of them by up to" in found
    assert "Kprobe (2)\n−20 % to +25 %" in found


def test_a_cause_stands_behind_the_changes_that_it_explains_alone(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    for kernel, machine, costs in ((OLD, "qemu-old", (400.0, 500.0)), (NEW, "qemu-new", (500.0, 400.0))):
        both = {f"02-kprobe {tracer}": cost for tracer, cost in zip(("bpftrace", "libbpf"), costs, strict=True)}
        submission(data, kernel, machine, counted_rows(both))
    cause = Explanation(
        id="longer",
        certainty="read",
        cases=("02-kprobe",),
        of="kernel",
        before="6.1",
        since="6.12",
        change="more",
        says="The exception is longer.",
        references=("linux-x",),
    )
    catalogue = replace(read_catalogue(DataFolder(data)), explanations=(cause,))
    found = seen(with_fragments(catalogue)["kernels/changes.md"])
    assert "+25 % 1 , −20 %" in found  # the link is read as a word of its own


def test_without_a_change_there_is_no_page_of_changes(tmp_path: Path) -> None:
    copy_suite(tmp_path)
    write_counted_submission(tmp_path)
    made = pages_of(tmp_path)
    assert "kernels/changes.md" not in made
    assert "/kernels/changes/" not in made["kernel-findings.md"]


def test_an_emulated_machine_has_a_page_of_what_it_is_made_of_and_what_was_counted(data: Path) -> None:
    text = pages_of(data)["kernels/qemu-old.md"]
    front, _ = json.JSONDecoder().raw_decode(text)
    assert (front["title"], front["kicker"]) == ("Linux 6.1.0-50, emulated, old", "emulated")
    found = seen(text)
    assert "kernel\nlinux-image-6.1.0-50-amd64 6.1.176-1\nbpftrace\nbpftrace 0.17.0-1 (bookworm)" in found
    assert "1 072.0 (1 070.0 to 1 074.0)\n71 %" in found
    assert "](/results/qemu-old/2026-11-21-per-event/)" in text


def test_what_is_counted_appears_among_no_times(data: Path) -> None:
    made = pages_of(data)
    assert not [path for path in made if path.startswith("machines/qemu")]
    for name in ("machines.md", "ladder.md", "all-costs.md"):
        assert "qemu" not in made[name].lower()
    times, instructions = made["costs/02-kprobe.md"].split("## Instructions")
    assert "qemu" not in times.lower()
    assert "Example CPU" not in instructions.split("## Published")[0]


def test_a_case_page_has_its_counts_with_how_the_kernel_made_the_probe(data: Path) -> None:
    found = seen(pages_of(data)["costs/02-kprobe.md"])
    assert "bpftrace 0.17.0\n1 072, ftrace\n740, ftrace" in found


def test_where_kernels_made_a_probe_in_one_way_it_is_said_once(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    for kernel, machine, cost in ((OLD, "qemu-old", 300.0), (NEW, "qemu-new", 500.0)):
        submission(data, kernel, machine, counted_rows({"02-kprobe bpftrace": cost}))
    found = seen(pages_of(data)["costs/02-kprobe.md"])
    assert "bpftrace 0.17.0\n300\n500" in found
    assert "Instructions that one event adds; the kernel made each probe by a call of ftrace." in found


def test_where_kernels_made_a_probe_in_several_ways_each_count_says_which(data: Path) -> None:
    rows = counted_rows({"02-kprobe bpftrace": 900.0})
    submission(data, "7.3.4+deb13-amd64", "qemu-third", rows, mechanisms={"02-kprobe bpftrace": "trap"})
    found = seen(pages_of(data)["costs/02-kprobe.md"])
    assert "bpftrace 0.17.0\n1 072, ftrace\n740, ftrace\n900, trap" in found
    assert (
        "Instructions that one event adds, and how the kernel made the probe: by a call of ftrace or by a trap."
        in found
    )


def test_a_title_that_asks_is_followed_by_a_sentence_and_no_colon(data: Path) -> None:
    catalogue = read_catalogue(DataFolder(data))
    suite = catalogue.suites[0].suite
    asking = suite.model_copy(update={"title": "Do costs add?"})
    assert said_of(asking, "by tracer.") == "Do costs add? By tracer."
    assert said_of(suite, "by tracer.") == f"{suite.title}: by tracer."


def test_the_page_of_a_case_that_was_not_counted_says_nothing_of_instructions(data: Path) -> None:
    assert "## Instructions" not in pages_of(data)["costs/09-map.md"]


def test_before_anything_was_counted_the_section_says_so(tmp_path: Path) -> None:
    made = pages_of(tmp_path)
    assert made["kernel-findings.md"] == "No two counts differ yet.\n"
    assert made["kernel-machines.md"] == "No kernel has been emulated yet.\n"
    assert made["kernel-answers.md"] == "Nothing has been counted yet.\n"


def test_the_files_list_what_was_counted(data: Path) -> None:
    assert "Linux 6.12.107, emulated, new, 2026-11-21-per-event" in seen(pages_of(data)["files.md"])


def test_charts_named_in_the_section_are_all_drawn(data: Path) -> None:
    made = pages_of(data)
    named = re.findall(r'\{\{< chart "([^"]+)" >\}\}', made["kernels/x86-64.md"])
    assert named == ["instructions-per-event-kernels", "instructions-per-event-tracers"]
    assert set(named) <= {chart.name for chart in site.charts(read_catalogue(DataFolder(data)))}


HOSTILE = [
    pytest.param("<script>alert(1)</script>", id="script"),
    pytest.param("{{< x >}}", id="shortcode"),
    pytest.param("{% raw %}", id="jinja"),
    pytest.param("](javascript:alert(1))", id="end of a link"),
    pytest.param("| a | b |", id="table"),
    pytest.param("# *b* `c`", id="heading and emphasis"),
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_names_of_kernels_tracers_and_packages_come_out_as_text(tmp_path: Path, hostile: str) -> None:
    data = write_data(tmp_path)
    for place, cost in enumerate((400.0, 500.0)):
        values = counted_values(f"{hostile} {place}", f"qemu-{place}")
        values["tools"] = {"bpftrace": f"{hostile} tool"}
        values["run"] |= {
            "packages": {f"{hostile} part": f"{hostile} package"},
            "mechanisms": {"02-kprobe bpftrace": f"{hostile} mechanism"},
        }
        rows = [*counted_rows({"02-kprobe bpftrace": cost}), replace(skipped_row(9, note=f"{hostile} note"), block=9)]
        write_counted_submission(data, rows, values)
    made = pages_of(data)
    texts = {
        "kernel-findings.md": [f"{hostile} 1", f"{hostile} tool"],
        "kernels/x86-64.md": [f"{hostile} 0", f"{hostile} tool", f"{hostile} note"],
        "kernel-machines.md": [f"{hostile} 0"],
        "kernels/changes.md": [f"{hostile} 1"],
        "kernels/qemu-0.md": [f"{hostile} {name}" for name in ("part", "package", "mechanism", "0")],
        f"results/qemu-0/{COUNTED_FOLDER}.md": [f"{hostile} note", f"{hostile} mechanism"],
        "costs/02-kprobe.md": [f"{hostile} mechanism", f"{hostile} 1"],
        "files.md": [f"{hostile} 1"],
    }
    for path, expected in texts.items():
        assert [text for text in expected if text not in seen(made[path])] == [], path
        assert_no_markup_of_its_own(made[path])


def assert_no_markup_of_its_own(text: str) -> None:
    """No element, link or shortcode comes from data."""
    body = text[json.JSONDecoder().raw_decode(text)[1] :] if text.startswith("{\n") else text
    assert "{{" not in SHORTCODE.sub("", body)
    body = body.replace("```\nprobe-effect measure\n```\n", "")  # the command, every word of which is plain
    body = re.sub(r"`probe-effect measure [a-z-]+ --case [a-z0-9-]+`", "", body)
    tokens: list[Any] = [one for token in PARSER.parse(body) for one in (token, *(token.children or []))]
    assert not [one for one in tokens if one.type.startswith(("html", "code", "fence", "image")) or one.tag == "h1"]
    assert all(str(one.attrs.get("href", "/")).startswith(("/", "#=")) for one in tokens)
