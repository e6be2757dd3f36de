"""Building from data that is malformed or hostile."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from builders import FIGURES, FOLDER, changed, machine_values, many_blocks, skipped_row, write_source, write_submission
from html_page import DATA_BLOCK, Page
from probe_effect.errors import BadData, ProbeEffectError
from site_build import PROJECT, build

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.site]

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


@pytest.fixture
def small_data(tmp_path: Path) -> Path:
    """The suites, and the one source that hand-written pages quote."""
    data = tmp_path / "data"
    shutil.copytree(PROJECT / "data/suites", data / "suites")
    quoted = "published/gregg-2011-pid-provider"
    shutil.copytree(PROJECT / "data" / quoted, data / quoted)
    return data


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_any_field_is_shown_as_text(small_data: Path, tmp_path: Path, text: str) -> None:
    text = f"x {text}"
    figures = [dict(figure) | {"what": f"{text} {figure['what']}"} for figure in FIGURES]
    for figure in figures:
        figure |= {"group": text, "platform": text, "note": text}
        if "printed" in figure:
            figure["printed"] = text
    plain = text.replace("{", "(").replace("}", ")")  # braces in these fields are placeholders of figures
    fields = ("title", "author", "kind", "where", "hardware", "os", "tool_versions", "workload", "method", "repeats")
    write_source(small_data, figures, findings=(), summary=plain, **dict.fromkeys(fields, text))
    values = machine_values()
    for path in ("machine.cpu_model", "machine.virtualization", "machine.governor", "machine.microcode", "system.os"):
        changed(values, path, text)
    changed(values, "system.kernel_config", {text: text})
    changed(values, "system.boot_flags", [text])
    changed(values, "system.vulnerabilities", {text: text})
    changed(values, "tools.bpftrace", text)
    changed(values, "run.command", ["probe-effect", text])
    changed(values, "provenance.tool", text)
    write_submission(small_data, [*many_blocks(1), skipped_row(3, note=text), *many_blocks(8)[3:]], values)

    site = build(small_data, tmp_path / "site")

    for name in (
        "sources/a-talk",
        "machines/test-machine",
        f"results/test-machine/{FOLDER}/02-kprobe/bpftrace",
        "costs/02-kprobe",
        "costs/06-uprobe",
        "sources",
        "machines",
        "",
    ):
        page = Page((site / name / "index.html").read_text(encoding="utf-8"))
        assert " ".join(text.split()) in page.text, name
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


def test_a_page_that_quotes_a_number_which_is_gone_stops_the_build(small_data: Path, tmp_path: Path) -> None:
    shutil.rmtree(small_data / "published/gregg-2011-pid-provider")
    write_source(small_data)
    out = tmp_path / "site"
    with pytest.raises(ProbeEffectError, match=r"gregg-2011-pid-provider\.tier_cost"):
        build(small_data, out)
    assert not out.exists()
