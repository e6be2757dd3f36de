"""Building from data that is malformed or hostile."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from builders import FIGURES, FOLDER, changed, machine_values, many_blocks, skipped_row, write_source, write_submission
from html_page import DATA_BLOCK, Page
from probe_effect.errors import BadData
from site_build import PROJECT, QUOTED, any_names, build, with_quoted_source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.site, pytest.mark.xdist_group("build")]

# None of these may mean anything on the site but itself. Commas and full stops keep a cell from starting a formula.
HOSTILE = (
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


def suites_and_quoted_source(folder: Path) -> Path:
    """A data folder with the suites, and the one source that hand-written pages quote."""
    shutil.copytree(PROJECT / "data/suites", folder / "data" / "suites")
    return with_quoted_source(folder / "data")


@pytest.fixture
def small_data(tmp_path: Path) -> Path:
    return suites_and_quoted_source(tmp_path)


def write_hostile(data: Path, number: int, text: str) -> None:
    """A source and a machine with `text` in every field that takes one; rows, names and days are their own."""
    figures = [dict(figure) | {"what": f"{text} {figure['what']}"} for figure in FIGURES]
    for figure in figures:
        figure |= {"group": text, "platform": text, "note": text}
        if "printed" in figure:
            figure["printed"] = text
    plain = text.replace("{", "(").replace("}", ")")  # braces in these fields are placeholders of figures
    fields = ("title", "author", "kind", "where", "hardware", "os", "tool_versions", "workload", "method", "repeats")
    changes = dict.fromkeys(fields, text)
    write_source(data, figures, findings=(), name=f"a-talk-{number}", summary=plain, **changes)
    values = changed(machine_values(), "machine.id", f"machine-{number}")
    changed(values, "run.started", f"2026-11-20T09:{number:02}:00Z")
    for path in ("machine.cpu_model", "machine.virtualization", "machine.governor", "machine.microcode", "system.os"):
        changed(values, path, text)
    changed(values, "system.kernel_config", {text: text})
    changed(values, "system.boot_flags", [text])
    changed(values, "system.vulnerabilities", {text: text})
    changed(values, "tools.bpftrace", text)
    changed(values, "run.command", ["probe-effect", text])
    changed(values, "provenance.tool", text)
    rows = [*many_blocks(1), skipped_row(3, note=text), *many_blocks(8)[3:]]
    write_submission(data, [replace(row, wall_ns=row.wall_ns and row.wall_ns + number) for row in rows], values)


@pytest.fixture(scope="module")
def hostile_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each text has a source and a machine of its own; the one that ran last, which the home page shows, has all."""
    folder = tmp_path_factory.mktemp("hostile")
    data = suites_and_quoted_source(folder)
    for number, text in enumerate((*HOSTILE, " ".join(HOSTILE))):
        write_hostile(data, number, f"x {text}")
    with any_names():
        return build(data, folder / "site")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_any_field_is_shown_as_text(hostile_site: Path, text: str) -> None:
    number = HOSTILE.index(text)
    of_one = [f"sources/a-talk-{number}", f"machines/machine-{number}"]
    of_one += [f"results/machine-{number}/{FOLDER}/02-kprobe/bpftrace"]
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


def _bad_csv(data: Path) -> str:
    path = next((data / "published").glob("*/figures.csv"))
    path.write_text(path.read_text(encoding="utf-8").replace(",S,", ",Q,", 1), encoding="utf-8")
    return path.name


def _bad_toml(data: Path) -> str:
    path = next((data / "published").glob("*/source.toml"))
    path.write_text("title = \n", encoding="utf-8")
    return path.name


def _bad_samples(data: Path) -> str:
    path = write_submission(data) / "samples.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(",traced,", ",watched,", 1), encoding="utf-8")
    return path.name


def _bad_machine(data: Path) -> str:
    path = write_submission(data) / "machine.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"threads": 8', '"threads": "eight"'), encoding="utf-8")
    return path.name


@pytest.mark.parametrize("spoil", [_bad_csv, _bad_toml, _bad_samples, _bad_machine])
def test_bad_data_is_named_with_its_place_and_leaves_the_previous_site_whole(
    small_data: Path, tmp_path: Path, spoil: Callable[[Path], str]
) -> None:
    out = tmp_path / "site"
    out.mkdir()
    (out / "index.html").write_text("the previous site", encoding="utf-8")
    name = spoil(small_data)
    with pytest.raises(BadData) as caught:
        build(small_data, out)
    problem = caught.value.problems[0]
    assert problem.file.endswith(name)
    assert problem.line is not None
    assert problem.column is not None
    assert problem.rule
    assert problem.hint
    assert [path.name for path in out.iterdir()] == ["index.html"]
    assert (out / "index.html").read_text(encoding="utf-8") == "the previous site"


def test_a_number_that_a_page_quotes_and_others_data_lack_is_said_to_be_missing(
    small_data: Path, tmp_path: Path
) -> None:
    shutil.rmtree(small_data / QUOTED)
    write_source(small_data)
    out = tmp_path / "site"
    build(small_data, out)
    page = (out / "costs" / "index.html").read_text(encoding="utf-8")
    assert "The tiers assume (not known here) a probe" in " ".join(re.sub(r"<[^>]+>", " ", page).split())
