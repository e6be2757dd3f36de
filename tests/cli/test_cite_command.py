"""`probe-effect cite`: ids, forms, and what it says to an id that it does not know."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from helpers.builders import FOLDER, MACHINE, write_data
from probe_effect.cli import commands
from probe_effect.model import UsageError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path)


def run(data: Path, *arguments: str) -> str:
    options = ["--data", str(data), *arguments]
    return CliRunner().invoke(commands, ["cite", *options], catch_exceptions=False, standalone_mode=False).stdout


@pytest.mark.parametrize(
    ("what", "path"),
    [
        pytest.param("", "/", id="nothing"),
        pytest.param("data", "/", id="the data set"),
        pytest.param("02-kprobe", "/costs/02-kprobe/", id="a case"),
        pytest.param("per-event", "/suites/per-event/", id="a suite"),
        pytest.param(MACHINE, f"/machines/{MACHINE}/", id="a machine"),
        pytest.param(f"{MACHINE}/{FOLDER}", f"/results/{MACHINE}/{FOLDER}/", id="a submission"),
        pytest.param(
            f"{MACHINE}/{FOLDER}/02-kprobe/bpftrace/",
            f"/results/{MACHINE}/{FOLDER}/02-kprobe/bpftrace/",
            id="a number, with the slash of its address",
        ),
        pytest.param("a-talk", "/sources/a-talk/", id="a source"),
        pytest.param("a-talk#cost", "/sources/a-talk/#cost", id="a figure"),
    ],
)
def test_everything_with_a_page_can_be_cited(data: Path, what: str, path: str) -> None:
    given = [what] if what else []
    text, _, bibtex = run(data, *given, "--base-url", "https://example.org/p").partition("\n\n")
    assert text.endswith(f" https://example.org/p{path}")
    assert f"{{https://example.org/p{path}}}," in bibtex


def test_programs_get_json(data: Path) -> None:
    found = json.loads(run(data, "02-kprobe", "--format", "json"))
    assert list(found) == ["id", "text", "bibtex"]
    assert found["id"] == "02-kprobe"
    assert found["bibtex"].startswith("@misc{")


def test_an_unknown_id_is_answered_with_the_nearest(data: Path) -> None:
    with pytest.raises(UsageError, match=r"'02-kprob': nothing here has this id.*Nearest: 02-kprobe"):
        run(data, "02-kprob")


def test_an_id_like_no_other_is_answered_with_where_to_look(data: Path) -> None:
    with pytest.raises(UsageError, match="cite --help"):
        run(data, "§§§§")
