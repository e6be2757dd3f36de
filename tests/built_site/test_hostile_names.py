"""A machine's name, a credit and a note that are anything but names reach every file of the site as text."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import zipfile
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from helpers.builders import (
    FIGURES,
    FOLDER,
    changed,
    counted_rows,
    counted_values,
    machine_values,
    many_blocks,
    skipped_row,
    write_counted_submission,
    write_source,
    write_submission,
)
from helpers.html_page import DATA_BLOCK, Page
from helpers.site_build import OWN_SITES, PROJECT, any_names, build, served, with_quoted_source
from probe_effect.checks.run import check_all
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Dialog

    from probe_effect.model import Sample

pytestmark = [pytest.mark.site, pytest.mark.deep, pytest.mark.xdist_group("hostile")]

HOSTILE = {
    "image": "<img src=x onerror=alert(1)>",
    "braces": '{{ 7 }} {{< chart "events-to-slowdown" >}} {% raw %}',
    "address": "a](javascript:alert(1)) ![b](https://example.org/x.png)",
    "script": '"><script>alert(1)</script><!--',
    "formula": "=cmd()",
    "quotes": "} \\' \" & }, @book{x, {",
}
MARKS = ("onerror", "javascript:alert", "alert(1)", "cmd()", "events-to-slowdown")
RUN_BY_SPREADSHEETS = re.compile(r"[=+@\t\r]|-(?![0-9.])")


# None of these may mean anything on the site but itself. Commas and full stops keep a cell from starting a formula.
EVERYWHERE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '{{< chart "events-to-slowdown" >}}',
    '{{% fragment "machines.md" %}}',
    "{{ .Site.Title }} {% raw %}",
    "[text](javascript:alert(1)) ![image](https://example.org/x.png)",
    "**bold** _italic_ `code` ~~gone~~",
    "# heading | cell | cell",
    "&lt;b&gt; &amp; &#60;",
    "</td></tr></table><!-- ",
    "quote \" and ' and \\ backslash",
)
"""Each is in every field of a source that takes a text, and all are in those of one machine."""


def credit(name: str) -> str:
    """What is left of a text that `check` takes for a credit: no address, and no formula at its start."""
    return HOSTILE[name].replace("https://", "").removeprefix("=")


def note(name: str) -> str:
    return f"no {HOSTILE[name]}"


def own(rows: list[Sample], place: int, name: str) -> list[Sample]:
    """Rows that are nobody else's, with a skipped case at the end of their first block."""
    rows = [
        replace(
            row, wall_ns=row.wall_ns and row.wall_ns + place, instructions=row.instructions and row.instructions + place
        )
        for row in rows
    ]
    end = sum(row.block == 0 for row in rows)
    return [*rows[:end], skipped_row(end, note=note(name)), *rows[end:]]


def write_talk(data: Path, number: int, text: str) -> None:
    """A source with `text` in every field that takes one; rows and names are its own."""
    figures = [dict(figure) | {"what": f"{text} {figure['what']}"} for figure in FIGURES]
    for figure in figures:
        figure |= {"group": text, "platform": text, "note": text}
        if "printed" in figure:
            figure["printed"] = text
    plain = text.replace("{", "(").replace("}", ")")  # braces in these fields are placeholders of figures
    fields = ("title", "author", "kind", "where", "hardware", "os", "tool_versions", "workload", "method", "repeats")
    changes = dict.fromkeys(fields, text)
    write_source(data, figures, findings=(), name=f"a-talk-{number}", summary=plain, **changes)


def write_machine(data: Path, text: str) -> None:
    """A machine with `text` in every field that takes one; it ran last, so the home page shows it."""
    values = changed(machine_values(), "machine.id", "everywhere")
    changed(values, "run.started", "2026-11-20T09:20:00Z")
    for path in ("machine.cpu_model", "machine.virtualization", "machine.governor", "machine.microcode", "system.os"):
        changed(values, path, text)
    changed(values, "system.kernel_config", {text: text})
    changed(values, "system.boot_flags", [text])
    changed(values, "system.vulnerabilities", {text: text})
    changed(values, "tools.bpftrace", text)
    changed(values, "run.command", ["probe-effect", text])
    changed(values, "provenance.tool", text)
    rows = [*many_blocks(1), skipped_row(3, note=text), *many_blocks(8)[3:]]
    write_submission(data, [replace(row, wall_ns=row.wall_ns and row.wall_ns + len(HOSTILE)) for row in rows], values)


@pytest.fixture(scope="module")
def hostile_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("hostile") / "data"
    shutil.copytree(PROJECT / "data/suites", data / "suites")
    for place, (name, text) in enumerate(HOSTILE.items()):
        for values, kind in ((machine_values(), "measured"), (counted_values(), "counted")):
            values["machine"] |= {"cpu_model": text, "id": f"{kind}-{name}"}
            values["system"]["os"] = text
            values["submitter"]["name"] = credit(name)
            if kind == "measured":
                write_submission(data, own(many_blocks(), place, name), values)
            else:
                write_counted_submission(data, own(counted_rows(), place, name), values)
    for number, text in enumerate(EVERYWHERE):
        write_talk(data, number, f"x {text}")
    write_machine(data, " ".join(f"x {text}" for text in EVERYWHERE))
    (data / "claims.toml").write_text("schema_version = 1\n" + "".join(map(claim, sorted(HOSTILE))), encoding="utf-8")
    return with_quoted_source(data)


def claim(name: str) -> str:
    """A claim whose every text is hostile, as an entry of `claims.toml`."""
    texts = dict.fromkeys(("words", "who", "conditions", "says", "missing"), HOSTILE[name])
    keys = {"id": name, "subject": "Agents", "link": "https://claims.example/1", "date": "not stated", **texts}
    return "[[claim]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())


@pytest.fixture(scope="module")
def hostile_site(hostile_data: Path) -> Path:
    with any_names():
        return build(hostile_data, OWN_SITES / "hostile" / "site")


def files(site: Path, *endings: str) -> Iterator[tuple[str, str]]:
    """Name and text of every file of the site, and of those in its archives, with one of the endings."""
    for path in sorted(path for path in site.rglob("*") if path.is_file()):
        name = str(path.relative_to(site))
        if name.endswith(endings):
            yield name, path.read_text(encoding="utf-8")
        elif name.endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                inside = [one for one in archive.namelist() if one.endswith(endings)]
                yield from ((f"{name}/{one}", archive.read(one).decode("utf-8")) for one in inside)


def strings(value: Any) -> Iterator[str]:  # noqa: ANN401 (JSON is anything)
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            yield from strings(child)


def test_the_check_refuses_names_with_markup_and_nothing_else_of_them(hostile_data: Path) -> None:
    errors = [problem for problem in check_all(DataFolder(hostile_data)) if problem.severity == "error"]
    assert {problem.rule for problem in errors} == {"plain-names"}
    told = {problem.file.split("/")[2].partition("-")[2] for problem in errors}
    assert told & HOSTILE.keys() == {"image", "braces", "address", "script", "quotes"}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", ["measured", "counted"])
def test_a_machine_has_its_page_with_its_names_as_they_are(hostile_site: Path, kind: str, name: str) -> None:
    folder = next((hostile_site / "results" / f"{kind}-{name}").glob("20*"))
    page = Page((folder / "index.html").read_text(encoding="utf-8"))
    assert f"{'Measured' if kind == 'measured' else 'Counted'} by {' '.join(credit(name).split())}." in page.text
    assert " ".join(note(name).split()) in page.text
    section = "machines" if kind == "measured" else "kernels"
    machine = Page((hostile_site / section / f"{kind}-{name}" / "index.html").read_text(encoding="utf-8"))
    assert " ".join(HOSTILE[name].split()) in machine.text
    assert f"by {' '.join(credit(name).split())}." in machine.text


@pytest.mark.parametrize("name", HOSTILE)
def test_a_claim_says_its_words_as_they_are(hostile_site: Path, name: str) -> None:
    words = " ".join(HOSTILE[name].split())
    for path, texts in (("claims", 3), ("claims/on-agents", 5)):
        page = Page((hostile_site / path / "index.html").read_text(encoding="utf-8"))
        assert page.text.count(words) >= texts
        assert name in page.ids


@pytest.mark.parametrize("text", EVERYWHERE)
def test_hostile_text_in_any_field_is_shown_as_text(hostile_site: Path, text: str) -> None:
    number = EVERYWHERE.index(text)
    of_one = [f"sources/a-talk-{number}", "machines/everywhere", f"results/everywhere/{FOLDER}/02-kprobe/bpftrace"]
    of_all = ["costs/02-kprobe", "costs/06-uprobe", "sources"]
    in_short = ["machines", ""]  # they have parts of it, in the short names of machines
    for name in of_one + of_all + in_short:
        page = Page((hostile_site / name / "index.html").read_text(encoding="utf-8"))
        assert name in in_short or " ".join(f"x {text}".split()) in page.text, name
        assert page.inline_code == [], name
        assert not any(key.startswith("on") for _, element in page.elements for key in element), name
        addresses = [element.get("href", element.get("src", "")) for _, element in page.elements]
        assert not any(one.startswith("javascript") or "//example" in one for one in addresses), name
        run = [script for script in page.all("script") if script.get("type") != DATA_BLOCK]
        assert all("/js/" in script["src"] for script in run), name
        assert all("<" not in block for block in page.data_blocks), name


def test_no_page_runs_or_loads_anything_of_them(hostile_site: Path) -> None:
    found = 0
    for name, text in files(hostile_site, ".html"):
        page = Page(text)
        found += "alert(1)" in page.text
        assert page.inline_code == [], name
        for tag, element in page.elements:
            assert not any(key.startswith("on") for key in element), (name, tag)
            for key in ("href", "src", "action", "srcset", "data", "content"):
                assert "javascript:" not in element.get(key, "") or key == "content", (name, tag)
            assert "example.org" not in element.get("src", "") + element.get("href", ""), (name, tag)
            assert element.get("src") != "x", name
        assert all("/js/" in one["src"] for one in page.all("script") if one.get("type") != DATA_BLOCK), name
        for block in page.data_blocks:
            assert "<" not in block, name
            json.loads(block)
    assert found > len(HOSTILE)


def test_every_table_has_its_columns_and_no_cell_that_a_spreadsheet_runs(hostile_site: Path) -> None:
    found = 0
    for name, text in files(hostile_site, ".csv"):
        table = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        assert len({len(row) for row in table}) == 1, name
        cells = [cell for row in table for cell in row]
        assert [cell for cell in cells if RUN_BY_SPREADSHEETS.match(cell)] == [], name
        found += any("cmd()" in cell for cell in cells)
    assert found


def test_every_json_file_can_be_read_and_holds_them_as_strings(hostile_site: Path) -> None:
    found: Counter[str] = Counter()
    for name, text in files(hostile_site, ".json", ".jsonld", ".geojson", ".webmanifest"):
        for one in strings(json.loads(text)):
            found.update(mark for mark in MARKS if mark in one)
        assert name
    assert {"onerror", "cmd()"} <= set(found)


def test_every_xml_file_is_well_formed_and_no_feed_hands_them_on_as_markup(hostile_site: Path) -> None:
    feeds = 0
    for name, text in files(hostile_site, ".xml", ".atom", ".rss"):
        for element in ET.fromstring(text).iter():  # noqa: S314 (a file that was just built)
            assert not any(key.lower().startswith("on") for key in element.attrib), name
            assert "javascript:" not in element.attrib.get("href", ""), name
            handed_on = Page(element.text or "") if element.attrib.get("type") == "html" else None
            if element.tag.rpartition("}")[2] == "description" and element.text:
                handed_on = Page(element.text)
            if handed_on is not None:
                assert not any(key.startswith("on") for _, one in handed_on.elements for key in one), name
                assert handed_on.inline_code == [], name
                assert "script" not in [tag for tag, _ in handed_on.elements], name
        feeds += "alert(1)" in text or "cmd()" in text
    assert feeds


def drawings(text: str) -> Iterator[str]:
    """The drawings in a page, each with those that are inside of it."""
    depth = start = 0
    for tag in re.finditer(r"<(/?)svg\b[^>]*>", text):
        if depth == 0:
            start = tag.start()
        depth += -1 if tag[1] else 1
        if depth == 0:
            yield text[start : tag.end()]


def test_every_drawing_is_well_formed_and_runs_nothing(hostile_site: Path) -> None:
    drawn = [*files(hostile_site, ".svg")]
    for name, text in files(hostile_site, ".html"):
        drawn += [(name, one) for one in drawings(text)]
    assert drawn
    for name, text in drawn:
        for element in ET.fromstring(text).iter():  # noqa: S314 (a file that was just built)
            assert element.tag.rpartition("}")[2] not in {"script", "foreignObject", "image"}, name
            for key, value in element.attrib.items():
                assert not key.lower().startswith("on"), name
                assert key == "data-says" or "javascript:" not in value, name  # what a dot says is shown as text


def entries(bibtex: str) -> list[str]:
    """The entries, told apart by their braces alone, as BibTeX does. A backslash does not hide a brace from it."""
    found, depth, start = [], 0, 0
    for place, char in enumerate(bibtex):
        depth += (char == "{") - (char == "}")
        assert depth >= 0
        if char == "}" and depth == 0:
            found.append(bibtex[start : place + 1].strip())
            start = place + 1
    assert depth == 0
    assert bibtex[start:].strip() == ""
    return found


def test_every_citation_is_one_entry_of_bibtex_whatever_is_in_it(hostile_site: Path) -> None:
    found = 0
    blocks = [(name, text) for name, text in files(hostile_site, ".bib")]
    for name, text in files(hostile_site, ".html"):
        pre = re.findall(r'<pre class="?cite-bibtex"?[^>]*>(.*?)</pre>', text, re.DOTALL)
        blocks += [(name, Page(one).text) for one in pre]
    for name, block in blocks:
        for entry in entries(block):
            assert re.match(r"@[a-z]+\{[A-Za-z0-9:_.-]+,", entry), (name, entry)
            assert not entry.startswith("@book"), (name, entry)
        found += "alert" in block
    assert found


def test_no_script_of_the_site_holds_any_of_them(hostile_site: Path) -> None:
    for name, text in files(hostile_site, ".js"):
        if name.startswith("js/") and "vega" not in name:
            assert not any(mark in text for mark in ("onerror=alert", "cmd()", "javascript:alert")), name


BY_SCRIPT = (
    "search/?q=onerror",
    "advise/",
    "compare/",
    "explore/",
    "machines/measured-image/",
    "kernels/counted-script/",
)
"""Pages that scripts write into, or that have such names in their head."""


@pytest.mark.browser
def test_a_browser_runs_and_loads_nothing_of_them(hostile_site: Path, chromium: Browser) -> None:
    view = chromium.new_page()
    said: list[str] = []
    asked: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        said.append(dialog.message)
        dialog.dismiss()

    view.on("dialog", dismiss)
    view.on("request", lambda request: asked.append(request.url))
    with served(hostile_site) as base:
        for path in BY_SCRIPT:
            view.goto(base + path, wait_until="networkidle")
            assert view.locator("img[src=x]").count() == 0, path
        view.goto(base + BY_SCRIPT[0])
        view.get_by_text("onerror=alert(1)").first.wait_for()
    view.close()
    assert said == []
    assert [url for url in asked if not url.startswith(base) or url.endswith("/x")] == []
