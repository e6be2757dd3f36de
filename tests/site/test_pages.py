"""Pages and fragments from a small data folder: what they say, and that text from data stays text."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

from helpers.builders import (
    FIGURES,
    FINDING,
    FOLDER,
    MACHINE,
    SOURCE_VALUES,
    block_rows,
    machine_document,
    machine_values,
    many_blocks,
    skipped_row,
    write_data,
    write_source,
    write_submission,
)
from helpers.number_builder import number, reduced, submission
from helpers.written_pages import split, with_fragments
from probe_effect.costs.evidence import evidence_of
from probe_effect.model import BadData, Estimate
from probe_effect.numbers.catalogue import Catalogue, read_catalogue
from probe_effect.numbers.names import cpu_family
from probe_effect.site.pages import case_page, machine_page, parts, site, source_page
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Sample
    from probe_effect.numbers.submission import Number

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
OWN_SHORTCODE = re.compile(r'\{\{< (chart|icicle|script|number|reference) "[a-z0-9./_-]+"( line)? >\}\}')

OWN_PLACES = ("#what-changed", "https://elixir.bootlin.com/linux/v")
"""Places of a page that its own templates link to, and where kernels' sources can be read."""

OWN_CODE = re.compile(
    r"^(probe-effect[\w ./=-]*\n?|wall_ns|tracer_cpu_ns|instructions|operations|events|check"
    r"|git log -p data/suites/[a-z-]+|sha256sum --check SHA256SUMS\n|\w+\(\)|--anyway)$"
)
"""Commands that are put together from ids, and names of columns: the only code on pages from data."""

WORDS = re.compile(r"[^\W_]([^\W_]|[\s.,:;%()])*")
"""What of a line makes no element."""

SUBMISSION_PAGE = f"results/{MACHINE}/{FOLDER}.md"
NUMBER_PAGE = f"results/{MACHINE}/{FOLDER}/02-kprobe/bpftrace.md"
MACHINE_PAGE = f"machines/{MACHINE}.md"
SOURCE_PAGE = "sources/a-talk.md"
CASE_PAGE = "costs/02-kprobe.md"


def pages_of(data: Path) -> dict[str, str]:
    return with_fragments(read_catalogue(DataFolder(data)))


def seen(text: str) -> str:
    """What a reader sees of Markdown, blanks made alike."""
    inlines = (token for token in PARSER.parse(OWN_SHORTCODE.sub("", text)) if token.type == "inline")
    words = "\n".join("".join(child.content or " " for child in one.children or []) for one in inlines)
    return words.replace("\u00a0", " ").replace("\u202f", " ")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The pages of a small sound data folder."""
    return pages_of(write_data(tmp_path_factory.mktemp("small")))


def test_there_is_a_page_per_case_source_and_machine(pages: dict[str, str], data: Path) -> None:
    (suite,) = (data / "suites").glob("*/suite.toml")
    cases = [path for path in pages if path.startswith("costs/")]
    assert len(cases) == suite.read_text(encoding="utf-8").count("[[cases]]")
    assert {CASE_PAGE, SOURCE_PAGE, MACHINE_PAGE} <= pages.keys()


@pytest.mark.parametrize(
    ("path", "title", "kind"),
    [
        (CASE_PAGE, "Kprobe", "case"),
        (SOURCE_PAGE, "A talk about tracing", "source"),
        (MACHINE_PAGE, "Example, machine", "machine"),
        (SUBMISSION_PAGE, "What one event costs", "submission"),
        (NUMBER_PAGE, "Kprobe with bpftrace 0.23", "number"),
        ("suites/per-event.md", "What one event costs", "suite"),
    ],
)
def test_front_matter_names_the_page(pages: dict[str, str], path: str, title: str, kind: str) -> None:
    front, _ = split(pages[path])
    assert (front["title"], front["kind"]) == (title, kind)
    assert front["description"]


def test_a_case_page_answers_at_which_rates_a_thread_slows(pages: dict[str, str]) -> None:
    text = seen(split(pages[CASE_PAGE])[1])
    assert "One event costs   50 ns   on Example, machine with bpftrace 0.23." in text
    assert "A busy thread slows by 5 % at 1.0 M events/s." in text


def test_a_case_page_gives_the_reason_why_it_was_not_measured(pages: dict[str, str]) -> None:
    text = seen(split(pages["costs/06-uprobe.md"])[1])
    assert "There is no answer yet: this kernel has no uprobes." in text
    assert "with bpftrace: skipped: this kernel has no uprobes." in text


def test_a_case_that_nobody_measured_says_so(pages: dict[str, str]) -> None:
    assert "No machine has run this case yet" in seen(split(pages["costs/09-map.md"])[1])


def test_a_case_page_shows_published_costs_apart(pages: dict[str, str]) -> None:
    measured, published = split(pages[CASE_PAGE])[1].split("Published by others")
    assert "A. Author" in seen(published)
    assert "A. Author" not in seen(measured)


def test_a_case_page_shows_its_scripts(pages: dict[str, str]) -> None:
    assert '{{< script "per-event/02-kprobe.bt" >}}' in pages[CASE_PAGE]


def test_a_case_page_says_which_system_each_form_of_a_script_is_for(pages: dict[str, str]) -> None:
    forms = {"FreeBSD": "02-kprobe.d", "Linux": "02-kprobe.linux.d"}
    for system, name in forms.items():
        assert f'> On {system}:\n>\n> {{{{< script "per-event/{name}" >}}}}' in pages[CASE_PAGE]
    assert "On Linux" not in pages["costs/06-uprobe.md"]


def test_the_page_of_a_submission_lists_what_could_not_be_measured_with_the_reason(pages: dict[str, str]) -> None:
    assert "skipped: this kernel has no uprobes" in seen(split(pages[SUBMISSION_PAGE])[1])


def test_a_source_page_shows_its_figures_findings_and_recomputation(pages: dict[str, str]) -> None:
    text = seen(split(pages[SOURCE_PAGE])[1])
    assert "It prints 2.5 us where its run times give 1 000 ns‡." in text
    assert "differs: 1 µs" in text
    assert "derived by us" in text


@pytest.mark.parametrize(("read", "marked"), [("excerpt", True), ("full", False), ("file", False)])
def test_only_a_source_known_from_an_excerpt_is_marked_so(tmp_path: Path, read: str, marked: bool) -> None:
    write_source(tmp_path, read=read)
    text = pages_of(tmp_path)[SOURCE_PAGE]
    assert ("Known only from an excerpt" in text) is marked


def test_an_empty_data_folder_says_that_there_is_nothing_yet(tmp_path: Path) -> None:
    made = pages_of(tmp_path)
    assert "Nothing has been measured yet" in made["ladder.md"]
    assert "No machine has been submitted yet" in made["machines.md"]


def test_the_newest_submission_of_a_machine_stands_for_it(data: Path) -> None:
    values = machine_values()
    values["run"]["started"] = "2026-12-01T00:00:00Z"
    write_submission(data, many_blocks(cost_ns=70), values, "2026-12-01-per-event")
    catalogue = read_catalogue(DataFolder(data))
    (one,) = catalogue.numbers.of_case("02-kprobe")
    assert one.submission.files.folder.name == "2026-12-01-per-event"
    assert one.cost == Estimate(70, 70, 70)


def case_of(rows: list[Sample]) -> Number:
    return reduced(rows).numbers[0]


def test_a_cost_below_the_noise_floor_is_words_and_not_a_number() -> None:
    case = case_of([row for block in range(8) for row in block_rows(block, 1, (100, 104))])
    assert parts.cost(case) == "not distinguishable from 0 (below 4.0\u00a0ns)"
    assert parts.slowdown(case) == "at most 3.9\u00a0%"
    assert [parts.threshold(case, percent) for percent in (1, 5, 30)] == ["—", "—", "—"]


def test_a_cost_that_is_no_difference_is_below_what_its_interval_and_the_floor_allow() -> None:
    wide = number(submission(noise_floor_ns=4.0), Estimate(2.0, -9.0, 12.0))
    assert parts.cost(wide) == "not distinguishable from 0 (below 12\u00a0ns)"


@pytest.mark.parametrize(
    ("changes", "tier"),
    [
        ({}, "physical"),
        ({"machine__virtualization": "kvm"}, "virtual machine"),
        ({"machine__virtualization": "kvm", "machine__nested": True}, "virtual machine"),
        ({"run__metric": "instructions"}, "emulated"),
    ],
)
def test_machines_have_tiers(changes: dict[str, object], tier: str) -> None:
    assert parts.tier(machine_document(**changes)) == tier


def test_what_an_early_file_lacks_of_a_machine_was_not_recorded() -> None:
    found = machine_page.facts(machine_document())
    later = ("Microarchitecture", "Numbers of the CPU", "The kernel at boot", "Exits to a hypervisor")
    assert {found[label] for label in later} == {"not recorded"}
    assert not set(later) & machine_page.facts(machine_document(run__metric="instructions")).keys()


@pytest.mark.parametrize(
    ("cpuid_ns", "nested"),
    [
        (None, "not known: the time of CPUID was not recorded"),
        (750.0, "no: CPUID takes 750\u00a0ns, below 1\u202f000\u00a0ns"),
        (2000.0, "not known: CPUID takes 2\u202f000\u00a0ns"),
        (5300.0, "yes: CPUID takes 5\u202f300\u00a0ns, above 3\u202f000\u00a0ns"),
    ],
)
def test_whether_a_guest_is_nested_is_decided_by_the_time_of_cpuid_whatever_its_boot_parameter(
    cpuid_ns: float | None, nested: str
) -> None:
    for by_parameter in (True, None):
        guest = {"machine__virtualization": "KVM", "machine__nested": by_parameter, "system__cpuid_ns": cpuid_ns}
        assert machine_page.facts(machine_document(**guest))["Nested"] == nested


def test_the_host_of_a_guest_that_was_booted_here_decides_whether_it_is_nested() -> None:
    guest = {"machine__virtualization": "QEMU KVM", "system__cpuid_ns": 5300.0}
    found = [machine_page.facts(machine_document(**guest, machine__nested=one))["Nested"] for one in (True, False)]
    assert found == ["yes: its host is a guest", "no: its host is no guest"]


def test_what_was_measured_and_logged_of_a_machine_is_shown() -> None:
    changes: dict[str, object] = {
        "machine__cpu_numbers": {"cpu family": "6", "model": "106"},
        "machine__microarchitecture": "Sunny Cove",
        "system__boot_messages": ["Hypervisor detected: KVM", "pvm-pv: not detected, 0/49 sites patched"],
        "system__cpuid_ns": 5300.0,
        "system__breakpoint_ns": 2100.0,
        "system__step_ns": 16000.0,
    }
    found = machine_page.facts(machine_document(**changes))
    assert found["Numbers of the CPU"] == "cpu family 6, model 106"
    assert found["The kernel at boot"].startswith("Hypervisor detected: KVM; pvm-pv: not detected")
    assert (
        found["Exits to a hypervisor"]
        == "CPUID 5\u202f300\u00a0ns, a breakpoint 2\u202f100\u00a0ns, a single step 16\u00a0µs"
    )


@pytest.mark.parametrize(
    ("printed", "unit", "shown"),
    [
        ("0.598", "us", "0.598\u00a0us"),
        ("21", "percent", "21\u00a0%"),
        ("1,000,000", "count", "1,000,000"),
        ("about 3 s", "s", "about 3 s"),
    ],
)
def test_a_bare_printed_number_gets_its_unit(data: Path, printed: str, unit: str, shown: str) -> None:
    figure = read_catalogue(DataFolder(data)).sources[0].figures[0]
    assert source_page.shown(replace(figure, printed=printed, unit=unit)) == shown


# Text from pull requests.

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- gone",
    "{{< x >}}",
    "{{% x %}}",
    "{{ .Site }}",
    "{% raw %}{# c #}",
    "](javascript:alert(1))",
    "[x](javascript:alert(1)) ![x](//e.org/x)",
    "| a | b |",
    "# h",
    "*b* __b__ ~~s~~",
    "`c` ```",
    "\"q\" 'q' &amp; &#60;",
    "1. x - y > z",
    "    indented",
    "\\",
)
"""Each on pages of its own, all of one data folder; and side by side on the pages that they share."""


def all_is_text(made: dict[str, str]) -> None:
    """No page holds an element that did not come from a template."""
    for path, page in made.items():
        front, body = split(page)
        assert "{{" not in OWN_SHORTCODE.sub("", body), path
        for token in PARSER.parse(body):
            for one in (token, *(token.children or [])):
                assert not one.type.startswith(("html", "image")), (path, one)
                assert OWN_CODE.match(one.content) or not one.type.startswith(("code", "fence")), (path, one)
                assert one.tag not in {"h1", "s"}, (path, one)
                assert str(one.attrs.get("href", "/")).startswith(("/", "#=", *OWN_PLACES)), (path, one)
        assert all(isinstance(value, str | int | list | dict) for value in front.values())


def is_text(made: dict[str, str], shown_on: dict[str, list[str]]) -> None:
    """The same of pages some of which show their texts literally."""
    all_is_text(made)
    for path, texts in shown_on.items():
        words = seen(split(made[path])[1])
        assert [text for text in texts if text.strip(" ") not in words] == []


MACHINE_TEXTS = (
    "machine.cpu_model machine.governor machine.microcode machine.virtualization system.os "
    "system.kernel_release system.clocksource system.bpf_jit provenance.tool"
).split()


def test_hostile_text_in_every_field_of_a_machine_file_comes_out_as_text(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    shown_on: dict[str, list[str]] = {}
    families: dict[str, str] = {}
    for place, hostile in enumerate(HOSTILE):
        machine, values = f"hostile-{place}", machine_values()
        texts = {key: f"{hostile} {number}" for number, key in enumerate(MACHINE_TEXTS)}
        for key, text in texts.items():
            part, name = key.split(".")
            values[part][name] = text
        values["machine"]["id"] = machine
        names = ("boot", "config", "option", "vulnerability", "state", "version", "tool", "argument", "compiler")
        made = {name: f"{hostile} {name}" for name in names}
        values["system"]["boot_flags"] = [made["boot"]]
        values["system"]["kernel_config"] = {made["option"]: made["config"]}
        values["system"]["vulnerabilities"] = {made["vulnerability"]: made["state"]}
        values["tools"] = {"bpftrace": made["version"], made["tool"]: "1"}
        values["run"]["command"] = [made["argument"]]
        values["run"]["compiler"] = made["compiler"]
        values["submitter"]["name"] = hostile
        write_submission(data, [*many_blocks(), replace(skipped_row(3), block=9)], values)
        of_run = [made["argument"], texts["provenance.tool"]]
        not_shown = {made["compiler"], *of_run}
        expected = [text for text in (*texts.values(), *made.values()) if text not in not_shown]
        shown_on |= {f"machines/{machine}.md": expected, f"results/{machine}/{FOLDER}.md": of_run}
        families[f"machines/{machine}.md"] = cpu_family(texts["machine.cpu_model"])
    pages = pages_of(data)
    is_text(pages, shown_on)
    assert {path: str(split(pages[path])[0]["title"])[: len(family)] for path, family in families.items()} == families


@pytest.mark.parametrize("some", [HOSTILE[::2], HOSTILE[1::2]], ids=["even", "odd"])
def test_hostile_notes_of_rows_come_out_as_text(tmp_path: Path, some: tuple[str, ...]) -> None:
    data, shown_on = write_data(tmp_path), {"costs/06-uprobe.md": [f"{hostile} skipped" for hostile in some]}
    rows = many_blocks(8)
    for place, hostile in enumerate(some):
        machine, values = f"hostile-{place}", machine_values()
        values["machine"]["id"] = machine
        failed = replace(rows[1], block=8, position=0, status="failed", note=f"{hostile} failed")
        skipped = replace(skipped_row(9), block=9, note=f"{hostile} skipped")
        write_submission(data, [*rows, failed, skipped], values)
        submission = f"results/{machine}/{FOLDER}"
        shown_on[f"{submission}.md"] = [f"{hostile} failed", f"{hostile} skipped"]
        shown_on[f"{submission}/02-kprobe/bpftrace.md"] = [f"{hostile} failed"]
    is_text(pages_of(data), shown_on)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_level_that_could_not_be_an_address_is_no_level(tmp_path: Path, hostile: str) -> None:
    data = write_data(tmp_path)
    values = machine_values()
    values["machine"]["id"] = "hostile-machine"
    write_submission(data, many_blocks(8, level=hostile), values)
    with pytest.raises(BadData):
        read_catalogue(DataFolder(data))


def test_hostile_text_in_every_field_of_a_source_comes_out_as_text(tmp_path: Path) -> None:
    data, kept = write_data(tmp_path), {"date", "read", "grade"}
    shown_on: dict[str, list[str]] = {"costs/02-kprobe.md": [], "sources.md": []}
    columns = ("group", "what", "printed", "platform", "note")
    for place, hostile in enumerate(HOSTILE):
        name, texts = f"hostile-{place}", {key: f"{hostile} {key}" for key in SOURCE_VALUES if key not in kept}
        rows = [dict(row) | {one: f"{hostile} {one}" for one in columns} | {"statistic": hostile} for row in FIGURES]
        del rows[3]["printed"]
        write_source(data, rows, [FINDING | {"sentence": f"{hostile} finding"}], name=name, **texts)
        expected = [*texts.values(), f"{hostile} finding", *(f"{hostile} {one}" for one in columns)]
        expected.remove(f"{hostile} title")  # in the front matter only
        shown_on[f"sources/{name}.md"] = expected
        shown_on["costs/02-kprobe.md"].append(f"{hostile} what")
        shown_on["sources.md"].append(f"{hostile} title")
    pages = pages_of(data)
    is_text(pages, shown_on)
    for place, hostile in enumerate(HOSTILE):
        front, _ = split(pages[f"sources/hostile-{place}.md"])
        assert (front["title"], front["description"]) == (f"{hostile} title", f"{hostile} summary")


def test_charts_named_on_pages_are_all_drawn(data: Path) -> None:
    catalogue: Catalogue = read_catalogue(DataFolder(data))
    named = {
        match[1] for text in pages_of(data).values() for match in re.finditer(r'\{\{< chart "([^"]+)" >\}\}', text)
    }
    assert named
    assert named <= {chart.name for chart in site.charts(catalogue)}


def page_of(case_id: str, catalogue: Catalogue) -> str:
    """The page of a case."""
    for folder in catalogue.suites:
        for case in (case for case in folder.suite.cases if case.id == case_id):
            return case_page.write(catalogue, evidence_of(catalogue), folder, case)
    raise KeyError(case_id)


def one_of_each(made: dict[str, str]) -> dict[str, str]:
    """The pages that have a line of other marks than all lines before: thousands of numbers differ in words alone."""
    known: set[str] = set()
    found = {}
    for path, page in made.items():
        lines = {WORDS.sub("w", line) for line in split(page)[1].splitlines()}
        if not lines <= known:
            known |= lines
            found[path] = page
    return found


@pytest.mark.deep
def test_every_page_of_the_real_data_folder_is_free_of_elements_from_data(catalogue: Catalogue) -> None:
    all_is_text(one_of_each(with_fragments(catalogue)))


@pytest.mark.deep
def test_the_cases_of_a_suite_follow_each_other_in_its_order(catalogue: Catalogue) -> None:
    weights = [split(page_of(case.id, catalogue))[0]["weight"] for case in catalogue.cases()]
    assert weights == sorted(set(weights))


@pytest.mark.parametrize("case", ["09-return-count", "23-read-and-write"])
def test_the_page_of_a_combination_has_what_its_parts_predict_beside_what_was_measured(
    catalogue: Catalogue, case: str
) -> None:
    assert "[!fold]- What its parts predict" in page_of(case, catalogue)


def test_the_page_of_a_single_probe_predicts_nothing_of_itself(catalogue: Catalogue) -> None:
    assert "[!fold]- What its parts predict" not in page_of("01-entry-nothing", catalogue)


def test_the_page_of_a_case_shows_at_which_rates_its_line_was_tried(catalogue: Catalogue) -> None:
    assert "[!fold]- Does the line hold?" in page_of("06-uprobe", catalogue)
    assert "[!fold]- Does the line hold?" not in page_of("07-uretprobe", catalogue)


@pytest.mark.parametrize("whose", ["small", pytest.param("ours", marks=pytest.mark.deep)])
def test_every_table_of_a_fragment_is_one_when_its_markdown_is_read(
    data: Path, request: pytest.FixtureRequest, whose: str
) -> None:
    """Also those that are put together from lists: an escaped line below the heads leaves a paragraph of bars."""
    pages = site.fragment_files(
        read_catalogue(DataFolder(data)) if whose == "small" else request.getfixturevalue("catalogue")
    )
    heads = re.compile(r"(?:\A|\n\n)\|[^\n]*\|\n([^\n]*)")
    below = [(path, line) for path, text in pages.items() for line in heads.findall(text)]
    assert below
    assert [one for one in below if not re.fullmatch(r"\|(:?-+:?\|)+", one[1])] == []
