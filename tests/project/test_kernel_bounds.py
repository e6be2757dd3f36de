"""From which kernel on something holds is in `references.toml`; every text that cites a reference says the same."""

import re
import tomllib
from pathlib import Path

from probe_effect.model import NOP10_CALLED_SINCE

ROOT = Path(__file__).parents[2]
REFERENCES = {one["id"]: one for one in tomllib.loads((ROOT / "data/references.toml").read_text())["reference"]}
BOUNDS = {
    name: {one["since"], *re.findall(r"\d\.\d+", one["says"])}
    for name, one in REFERENCES.items()
    if "since" in one and one.get("project") == "Linux"
}
CITED = re.compile(
    r"\b(?:since|from) (?:Linux |the kernel )?(\d\.\d+)\b(?! to)[^.{}\n]{0,60}\.?,?\{\{< reference \"([\w-]+)\"",
    re.IGNORECASE,
)
NOPS = re.compile(r"nop of (?:5|five) bytes[^.]{0,12} on Linux (\d\.\d+) to (\d\.\d+), of 10 from (\d\.\d+)")
CALLED = [REFERENCES[name]["since"] for name in ("linux-uprobe-call", "linux-uprobe-call-nop10")]


def texts() -> dict[str, str]:
    """Everything that readers see, by its path."""
    folders = ("content", "site/diagrams", "data/suites", "generator/probe_effect")
    found = (path for folder in folders for ending in ("md", "toml") for path in (ROOT / folder).rglob(f"*.{ending}"))
    return {str(path.relative_to(ROOT)): path.read_text() for path in found}


def test_a_text_that_cites_a_change_of_the_kernel_names_the_release_of_the_reference() -> None:
    cited = [
        (path, version, name)
        for path, text in texts().items()
        for version, name in CITED.findall(text)
        if name in BOUNDS
    ]
    assert len(cited) > 5
    assert [one for one in cited if one[1] not in BOUNDS[one[2]]] == []


def test_figures_forms_and_texts_name_the_same_kernels_for_a_nop_that_is_called() -> None:
    named = {path: found for path, text in texts().items() if (found := NOPS.findall(text))}
    assert {path.partition("/")[0] for path in named} >= {"site", "generator"}
    first, later = CALLED
    assert ".".join(map(str, NOP10_CALLED_SINCE)) == later
    for path, bounds in named.items():
        for since, until, ten in bounds:
            assert (since, ten) == (first, later), path
            assert until == "7.1", path  # the release before the one of the ten bytes
