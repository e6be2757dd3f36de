"""Pages of submissions, numbers, suites and tracers: what they say, and that every number leads to its rows."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest

from helpers.builders import (
    COUNTED_FOLDER,
    COUNTED_MACHINE,
    FOLDER,
    MACHINE,
    PROJECT,
    machine_values,
    many_blocks,
    write_counted_submission,
    write_data,
    write_submission,
)
from helpers.number_builder import number
from helpers.written_pages import split, written
from probe_effect.costs.evidence import evidence_of
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue, read_catalogue
from probe_effect.records import TOOLS
from probe_effect.site.pages import number_page, parts, site
from probe_effect.site.pages.parts import fragment, markdown
from probe_effect.site.pages.results import cost, view_of
from probe_effect.site.pages.results.view import CaseResults
from probe_effect.site.pages.tracer_page import write_plain
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

SUBMISSION = f"results/{MACHINE}/{FOLDER}"
NUMBER = f"{SUBMISSION}/02-kprobe/bpftrace"
COUNTED = f"results/{COUNTED_MACHINE}/{COUNTED_FOLDER}"


@pytest.fixture
def small(data: Path) -> Catalogue:
    """One submission of times and one of counts."""
    write_counted_submission(data)
    return read_catalogue(DataFolder(data))


@pytest.fixture
def pages(small: Catalogue) -> dict[str, str]:
    return written(small)


def body(pages: dict[str, str], path: str) -> str:
    return split(pages[f"{path}.md"])[1]


def front(pages: dict[str, str], path: str) -> dict[str, Any]:
    return split(pages[f"{path}.md"])[0]


def test_each_number_of_a_submission_has_a_page_and_nothing_else_has(pages: dict[str, str]) -> None:
    assert [path for path in pages if path.startswith(f"{SUBMISSION}/")] == [f"{NUMBER}.md"]
    assert [path for path in pages if path.startswith(f"{COUNTED}/")] == [
        f"{COUNTED}/02-kprobe/bpftrace.md",
        f"{COUNTED}/19-fentry/bpftrace.md",
        f"{COUNTED}/19-fentry/libbpf.md",
    ]


def test_levels_have_pages_of_their_own(data: Path) -> None:
    write_submission(data, many_blocks(level="16"), folder="2026-11-21-per-event")
    made = written(read_catalogue(DataFolder(data)))
    assert f"results/{MACHINE}/2026-11-21-per-event/02-kprobe/bpftrace/16.md" in made


def test_the_page_of_a_number_begins_with_it(pages: dict[str, str]) -> None:
    assert front(pages, NUMBER)["title"] == "Kprobe with bpftrace 0.23"
    assert front(pages, NUMBER)["kicker"].endswith("20\u00a0November\u00a02026")
    assert "tracing adds 50.0\u00a0ns to one event" in body(pages, NUMBER)


@pytest.mark.parametrize("quantity", ["cost", "fastest", "slowdown", "threshold-1", "threshold-5", "threshold-30"])
def test_each_quantity_has_an_address_of_its_own(pages: dict[str, str], quantity: str) -> None:
    assert f"](#={quantity}) |" in body(pages, NUMBER)


def test_a_quantity_that_is_not_known_has_no_line(pages: dict[str, str]) -> None:
    assert "#=loss" not in body(pages, NUMBER)


def test_the_rows_stand_block_by_block_with_their_lines(pages: dict[str, str]) -> None:
    rows = [line for line in body(pages, NUMBER).splitlines() if re.match(r"\| \d+ \|", line)]
    assert len(rows) == 8
    assert rows[1] == "| 1 | 100.0000; 100.0000 | 150.0000 | 50.0000; 50.0000 | 6, 7, 8 |"


def test_a_number_says_how_to_make_it_again(pages: dict[str, str]) -> None:
    command = "probe-effect measure per-event --case 02-kprobe --tracer bpftrace --blocks 8\n"
    assert f"```\n{command}```" in body(pages, NUMBER)


@pytest.mark.parametrize("older", [0, 1])
def test_a_number_says_of_which_version_its_script_is(data: Path, small: Catalogue, older: int) -> None:
    now = small.by_suite["per-event"].suite.version
    path = data / "results" / MACHINE / FOLDER / "machine.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    values["run"]["suite_version"] = now - older
    path.write_text(json.dumps(values), encoding="utf-8")
    said = body(written(read_catalogue(DataFolder(data))), NUMBER)
    same = f"It ran version {now} of the suite, as it is today: [the script](/scripts/per-event/02-kprobe.bt)."
    other = f"It ran version {now - 1} of the suite, which is at version {now} now"
    assert (same in said, other in said) == (not older, bool(older))
    assert (f"[the script of version {now}](/scripts/per-event/02-kprobe.bt)" in said) == bool(older)
    assert ("`git log -p data/suites/per-event`" in said) == bool(older)


@pytest.mark.parametrize(
    ("command", "tracer", "word"),
    [
        ("measure per-event", "bpftrace", "--tracer bpftrace --"),
        ("measure --tracer bpftrace=bpftrace/trixie", "bpftrace-0-23-2", "--tracer bpftrace=bpftrace/trixie --"),
        ("measure --tracer bpftrace=bpftrace", "bpftrace-0-23-2", "--tracer bpftrace=PATH --"),
        ("measure --tracer bpftrace=a/$(x)", "bpftrace-0-23-2", "--tracer bpftrace=PATH --"),
        ("measure --vm trixie", "bpftrace", "--vm trixie --case"),
        ("measure --vm `x`", "bpftrace", "per-event --case"),
    ],
)
def test_the_command_has_what_the_run_was_given_where_that_is_a_plain_word(
    data: Path, command: str, tracer: str, word: str
) -> None:
    path = data / "results" / MACHINE / FOLDER / "machine.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    values["run"]["command"] = ["probe-effect", *command.split()]
    path.write_text(json.dumps(values), encoding="utf-8")
    (submission,) = read_catalogue(DataFolder(data)).active
    assert word in number_page.again(number(submission, Estimate(50), tracer=tracer))


def test_a_number_leads_to_everything_that_it_belongs_to(pages: dict[str, str]) -> None:
    links = set(re.findall(r"\]\((/[^)]+)\)", body(pages, NUMBER)))
    assert links >= {
        "/costs/02-kprobe/",
        "/scripts/per-event/02-kprobe.bt",
        f"/{SUBMISSION}/",
        f"/machines/{MACHINE}/",
        "/tracers/bpftrace/",
        "/suites/per-event/",
        f"/data/{SUBMISSION}/samples.csv",
        f"/data/{SUBMISSION}/machine.json",
    }


def test_a_number_is_cited_by_its_own_address(pages: dict[str, str]) -> None:
    assert f"/{NUMBER}/" in front(pages, NUMBER)["cite"]["text"]


def test_a_count_has_instructions_and_no_time(pages: dict[str, str]) -> None:
    text = body(pages, f"{COUNTED}/02-kprobe/bpftrace")
    assert "](#=instructions) |" in text
    assert "](#=cost)" not in text
    assert not re.search(r"\d\u00a0(ns|µs|ms)\b", text)


def test_the_page_of_a_submission_leads_from_each_number_to_its_page(pages: dict[str, str]) -> None:
    text = body(pages, SUBMISSION)
    for quantity in ("cost", "fastest", "threshold-5"):
        assert f"](/{NUMBER}/#{quantity})" in text
    assert f"](/{COUNTED}/02-kprobe/bpftrace/#instructions)" in body(pages, COUNTED)


@pytest.mark.parametrize(
    "path", [f"machines/{MACHINE}", "costs/02-kprobe", "suites/per-event"], ids=["machine", "case", "suite"]
)
def test_other_pages_lead_to_the_number_too(pages: dict[str, str], path: str) -> None:
    assert f"](/{NUMBER}/#cost)" in body(pages, path)


def test_a_machine_shows_one_submission_and_names_all(data: Path) -> None:
    write_submission(data, many_blocks(cost_ns=70), folder="2026-11-21-per-event")
    text = body(written(read_catalogue(DataFolder(data))), f"machines/{MACHINE}")
    assert text.count("](/costs/02-kprobe/)") == 1
    assert f"](/{SUBMISSION}/)" in text
    assert f"](/results/{MACHINE}/2026-11-21-per-event/)" in text


def test_a_run_of_the_project_itself_is_shown_as_what_its_file_says_and_no_more(data: Path) -> None:
    values = machine_values()
    values["provenance"]["kind"] = "third-party"
    write_submission(data, many_blocks(9), values, "2026-11-21-per-event")
    made = written(read_catalogue(DataFolder(data)))
    assert (
        "The project itself ran this, as machine.json says; [a signature](/method/checks/#signed-runs) can prove it."
        in made[f"{SUBMISSION}.md"]
    )
    assert "The project itself ran 1 of these 2 runs, as" in made[f"machines/{MACHINE}.md"]
    assert "The project itself" not in made[f"results/{MACHINE}/2026-11-21-per-event.md"]


def test_the_list_of_results_has_every_submission(small: Catalogue) -> None:
    text = site.fragment_files(small)["results.md"]
    assert f"](/{SUBMISSION}/)" in text
    assert f"](/{COUNTED}/)" in text


@pytest.mark.parametrize(("case_id", "is_said"), [("22-system-call", True), ("04-tracepoint-entry", False)])
def test_a_table_says_where_an_event_is_an_iteration_of_several_calls(
    catalogue: Catalogue, case_id: str, *, is_said: bool
) -> None:
    found = evidence_of(catalogue)
    measured = [one for one in catalogue.numbers.current() if one.case == case_id and one.is_time]
    text = fragment(cost.sections(CaseResults(found, *found.of[case_id], measured)))
    assert ("iteration of 2 system calls" in text) == is_said


def test_a_range_has_the_least_and_the_greatest_of_the_newest(data: Path) -> None:
    for place, cost_ns in enumerate((70, 90, 30)):
        path = write_submission(data, many_blocks(cost_ns=cost_ns, tracer=f"t{place}"), folder=f"2026-11-2{place}-x")
        assert path.is_dir()
    catalogue = read_catalogue(DataFolder(data))
    suite = catalogue.suites[0].suite
    case = suite.case("02-kprobe")
    assert case is not None
    found = view_of(suite).range_of(case, catalogue.numbers)
    text = unescape(re.sub(r"\(/[^)]*\)", "", markdown(found)))
    assert text == "[30.0\u00a0ns] to [90.0\u00a0ns] (4)"


def test_where_no_machine_has_a_difference_the_range_is_the_most_that_any_may_have(catalogue: Catalogue) -> None:
    folder = next(one for one in catalogue.suites if one.suite.id == "usdt")
    case = folder.suite.case("02-usdt-compiled-in")
    assert case is not None
    most = max(one.bounded_cost.high or 0.0 for one in catalogue.numbers.of_case(case.id) if one.leads)
    assert parts.unclear(most, None) in unescape(markdown(view_of(folder.suite).range_of(case, catalogue.numbers)))


@pytest.mark.parametrize(("case", "words"), [("06-uprobe", "skipped"), ("09-map", "not yet")])
def test_a_case_without_a_number_says_why(small: Catalogue, case: str, words: str) -> None:
    suite = small.suites[0].suite
    one = suite.case(case)
    assert one is not None
    assert view_of(suite).range_of(one, small.numbers) == words


def test_a_case_that_no_timed_kernel_can_run_names_the_first_that_can(small: Catalogue) -> None:
    suite = small.suites[0].suite
    one = suite.case("09-map")
    assert one is not None
    newer = one.model_copy(update={"needs": ("uprobe", "uprobe-nop10")})
    assert view_of(suite).range_of(newer, small.numbers) == "no Linux 7.2 timed yet"


def test_every_tool_has_a_page_of_its_own_that_shows_what_data_says_of_it() -> None:
    content = PROJECT / "content"
    by_hand = {f"tracers/{path.name}": path.read_text(encoding="utf-8") for path in content.glob("tracers/[!_]*.md")}
    pages = by_hand | dict(write_plain(content))
    assert pages.keys() == {f"tracers/{tool}.md" for tool in TOOLS}
    assert all(f'{{{{< fragment "{path}" >}}}}' in text for path, text in pages.items())


def test_a_tool_without_a_page_by_hand_has_one_of_what_data_says_alone(tmp_path: Path) -> None:
    (tmp_path / "tracers").mkdir()
    (tmp_path / "tracers" / "bpftrace.md").touch()
    made = dict(write_plain(tmp_path))
    assert made.keys() == {f"tracers/{tool}.md" for tool in TOOLS} - {"tracers/bpftrace.md"}
    assert made["tracers/strace.md"].endswith('\n\n{{< fragment "tracers/strace.md" >}}\n')


@pytest.mark.parametrize("tool", [path.stem for path in (PROJECT / "content" / "tracers").glob("[!_]*.md")])
def test_the_page_of_a_tool_names_the_packages_that_it_needs(tool: str) -> None:
    text = (PROJECT / "content" / "tracers" / f"{tool}.md").read_text(encoding="utf-8")
    for package in TOOLS[tool].packages:
        assert package.debian in text
        assert package.ubuntu in text


def test_the_page_of_a_tool_has_its_cost_by_case(small: Catalogue) -> None:
    text = site.fragment_files(small)["tracers/bpftrace.md"]
    assert f"[50.0\u00a0ns](/{NUMBER}/#cost)" in text
    assert "bpftrace 0.23" in text


def test_without_data_there_are_lists_that_say_so(tmp_path: Path) -> None:
    made = site.fragment_files(read_catalogue(DataFolder(tmp_path)))
    assert "Nothing has been submitted yet." in made["results.md"]
    assert "No submission has it yet." in made["tracers/strace.md"]


def test_the_suite_of_a_run_that_is_gone_takes_nothing_from_its_pages(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    for path in sorted((data / "suites").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    made = written(read_catalogue(DataFolder(data)))
    assert {f"{SUBMISSION}.md", f"{NUMBER}.md"} <= made.keys()
