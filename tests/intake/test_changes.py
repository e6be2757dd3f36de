"""The change log: what it says, what it refuses, and what becomes of a submission that is withdrawn."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from helpers.builders import (
    COUNTED_FOLDER,
    COUNTED_MACHINE,
    FOLDER,
    MACHINE,
    counted_rows,
    counted_values,
    rules,
    write_counted_submission,
    write_data,
)
from helpers.written_pages import written
from probe_effect.checks.run import check_all
from probe_effect.costs.evidence import evidence_of
from probe_effect.numbers.catalogue import Catalogue, read_catalogue
from probe_effect.site.pages import changes_page, fragments
from probe_effect.site.pages.changes_page import entries
from probe_effect.site.releases import feed, series_feed
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

ADDED = 'date = "2026-11-20"\nkind = "added"\nwhat = ["a-talk"]\nwhy = "The first source."'
CORRECTED = (
    'date = "2026-11-22"\nkind = "corrected"\nwhat = ["a-talk#calls"]\nwhy = "A digit was read wrong."\n'
    'old = "1 000 000"\nnew = "100 000 <b>*x*</b>"'
)
SUBMISSION = f"{MACHINE}/{FOLDER}"
COUNTED = f"{COUNTED_MACHINE}/{COUNTED_FOLDER}"
WITHDRAWN = f'date = "2026-11-23"\nkind = "withdrawn"\nwhat = ["{SUBMISSION}"]\nwhy = "A build ran beside it."'
TAG = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    made = write_data(tmp_path)
    write_counted_submission(made)
    return made


def log(data: Path, *changes: str) -> Path:
    text = "".join(f"\n[[changes]]\n{change}\n" for change in changes)
    (data / "changes.toml").write_text(f"schema_version = 1\n{text}", encoding="utf-8")
    return data


def read(data: Path, site: str = "/") -> Catalogue:
    return read_catalogue(DataFolder(data), site)


def parsed(catalogue: Catalogue) -> ET.Element:
    return ET.fromstring(feed(catalogue).encode())  # noqa: S314 (our own feed)


def problems(data: Path) -> list[str]:
    return [problem.message for problem in check_all(DataFolder(data)) if problem.file.endswith("changes.toml")]


def test_submissions_are_added_by_being_there_and_the_newest_change_comes_first(data: Path) -> None:
    found = entries(read(log(data, ADDED, CORRECTED)))
    assert [(one.date, one.kind, one.what[0]) for one in found] == [
        ("2026-11-22", "corrected", "a-talk#calls"),
        ("2026-11-21", "added", f"{COUNTED_MACHINE}/{COUNTED_FOLDER}"),
        ("2026-11-20", "added", "a-talk"),
        ("2026-11-20", "added", SUBMISSION),
    ]


def test_a_correction_shows_both_values_and_its_text_is_text(data: Path) -> None:
    page = fragments.write_all(read(log(data, ADDED, CORRECTED)))["data-changes.md"]
    assert "Was 1 000 000, is 100 000 &#60;b&#62;&#42;x&#42;" in page
    assert "](/sources/a-talk/#calls)" in page
    assert "<b>" not in page


def test_a_sound_log_has_no_problem(data: Path) -> None:
    number = f"{SUBMISSION}/02-kprobe/bpftrace"
    mended = CORRECTED.replace("a-talk#calls", number)
    assert problems(log(data, ADDED, CORRECTED, mended, WITHDRAWN)) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        pytest.param([ADDED, CORRECTED.replace("#calls", "#nothing")], "is not in the data", id="no such figure"),
        pytest.param([ADDED, WITHDRAWN.replace(FOLDER, "2026-01-01-x")], "is not in the data", id="no such run"),
        pytest.param(
            [ADDED, CORRECTED.replace("a-talk#calls", f"{SUBMISSION}/02-kprobe/perf")],
            "not in the data",
            id="no number",
        ),
        pytest.param([ADDED, WITHDRAWN.replace(SUBMISSION, "a-talk")], "is a source", id="a source withdrawn"),
        pytest.param([ADDED, CORRECTED.replace("a-talk#calls", SUBMISSION)], "is a submission", id="a run corrected"),
        pytest.param([CORRECTED, ADDED], "2026-11-20 comes after 2026-11-22", id="not in order"),
        pytest.param([WITHDRAWN], "source `a-talk` was never added", id="a source unlisted"),
        pytest.param([ADDED, CORRECTED.replace('old = "1 000 000"\n', "")], "come together", id="no old value"),
        pytest.param([ADDED + '\nnew = "1"'], "come together", id="a value without a correction"),
        pytest.param([ADDED, CORRECTED.replace("a-talk#calls", "../../x")], "pattern", id="a path"),
    ],
)
def test_an_unsound_log_is_told(data: Path, changes: list[str], said: str) -> None:
    found = problems(log(data, *changes))
    assert any(said in message for message in found), found


def test_a_log_that_is_no_toml_is_told_with_its_line(data: Path) -> None:
    (data / "changes.toml").write_text("schema_version = 1\nwhat\n")
    (found,) = [one for one in check_all(DataFolder(data)) if one.rule == "changes/syntax"]
    assert found.line == 2


def test_without_a_log_nothing_is_asked_for(data: Path) -> None:
    assert "known-changes" not in rules(check_all(DataFolder(data)))


def test_what_is_withdrawn_guides_nobody_and_keeps_its_page(data: Path) -> None:
    before, after = read(log(data, ADDED)), read(log(data, ADDED, WITHDRAWN))
    assert SUBMISSION in {one.id for one in before.active}
    assert MACHINE in evidence_of(before).machines
    assert SUBMISSION not in {one.id for one in after.active}
    assert after.numbers.of_case("02-kprobe") == []
    assert MACHINE not in evidence_of(after).machines
    assert SUBMISSION in {one.id for one in after.everything}
    assert changes_page.withdrawn(SUBMISSION, before) == {}
    assert "A build ran beside it." in changes_page.withdrawn(SUBMISSION, after)["withdrawn"]


def test_the_page_of_a_withdrawn_run_says_so_first(data: Path) -> None:
    pages = written(read(log(data, ADDED, WITHDRAWN)))
    run, number = (pages[f"results/{name}.md"] for name in (SUBMISSION, f"{SUBMISSION}/02-kprobe/bpftrace"))
    for text in (run, number):
        front, _ = json.JSONDecoder().raw_decode(text)
        assert front["withdrawn"].startswith("Withdrawn on 23\u00a0November\u00a02026: A build ran beside it.")
    assert not [name for name in pages if name.startswith(f"machines/{MACHINE}")]
    assert "withdrawn" not in json.JSONDecoder().raw_decode(pages[f"results/{COUNTED}.md"])[0]


def test_the_feed_is_atom(data: Path) -> None:
    root = parsed(read(log(data, ADDED, CORRECTED), "https://example.org/p/"))
    assert root.tag == f"{TAG}feed"
    found = root.findall(f"{TAG}entry")
    for element in (root, *found):
        assert all(element.findtext(f"{TAG}{name}") for name in ("id", "title", "updated"))
        assert element.findtext(f"{TAG}updated", "").endswith("Z")
    ids = [one.findtext(f"{TAG}id", "") for one in (root, *found)]
    assert len(set(ids)) == len(ids) == 5
    assert all(one.startswith("urn:uuid:") for one in ids)
    assert root.findtext(f"{TAG}author/{TAG}name")
    links = [link.get("href", "") for link in root.iter(f"{TAG}link")]
    assert all(link.startswith("https://example.org/p/") for link in links)
    assert root.findtext(f"{TAG}updated") == "2026-11-22T00:00:00Z"


def test_the_feed_says_what_the_page_says(data: Path) -> None:
    root = parsed(read(log(data, ADDED, CORRECTED)))
    first = root.find(f"{TAG}entry")
    assert first is not None
    assert "is 100 000 <b>*x*</b>" in first.findtext(f"{TAG}summary", "")
    link = first.find(f"{TAG}link")
    assert link is not None
    assert link.get("href") == "../sources/a-talk/#calls"


def test_ids_of_the_feed_stay_when_the_site_moves_and_the_data_grow(data: Path) -> None:
    def ids(where: str) -> set[str]:
        return {one.text or "" for one in parsed(read(data, where)).iter(f"{TAG}id")}

    before = ids("/")
    log(data, ADDED, CORRECTED)
    assert before < ids("https://example.org/")


def test_the_series_has_a_feed_of_its_changes_in_words(data: Path) -> None:
    for machine, kernel, count in (("qemu-a", "6.1.0-50-amd64", 640), ("qemu-b", "6.12.107+deb13-amd64", 700)):
        rows = counted_rows({"02-kprobe libbpf": count})
        write_counted_submission(data, rows, counted_values(kernel, machine), "2026-11-21-per-event")
    root = ET.fromstring(series_feed(read(data)).encode())  # noqa: S314 (our own feed)
    (entry,) = root.findall(f"{TAG}entry")
    assert entry.findtext(f"{TAG}title") == "6.1 to 6.12, x86-64: Kprobe with libbpf 1.1 +9.4 % (640 to 700)"
    link = entry.find(f"{TAG}link")
    assert link is not None
    assert link.get("href") == "../kernels/series/"
