"""The page of the series: its changes release by release, in words, with their causes."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import pytest

from helpers.builders import counted_rows, counted_values, write_counted_submission
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.pages import kernel_changes
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

CAUSE = """schema_version = 1
[[explanation]]
id = "why"
cases = ["19-fentry"]
of = "kernel"
before = "6.12"
since = "6.13"
change = "fewer"
says = "It does less."
references = []
certainty = "unknown"
"""


@pytest.fixture
def changes(data: Path) -> list[str]:
    """What the page says of a kprobe and a fentry on three releases, where the cause of one change is known."""
    for kernel, kprobe, fentry in (("6.1.0-50", 640, 100), ("6.12.107+deb13", 620, 110), ("7.3.4+deb13", 620, 99)):
        rows = counted_rows({"02-kprobe libbpf": kprobe, "19-fentry libbpf": fentry})
        machine = f"qemu-{kernel.partition('+')[0].replace('.', '-')}"
        write_counted_submission(data, rows, counted_values(f"{kernel}-amd64", machine))
    (data / "explanations.toml").write_text(CAUSE, encoding="utf-8")
    ((path, text),) = kernel_changes.write_series(read_catalogue(DataFolder(data)))
    assert path == "kernels/series.md"
    text = html.unescape(text).replace("\u00a0", " ")
    return [line for line in text.splitlines() if line.startswith(("**", "- "))]


def test_the_changes_stand_under_the_releases_between_which_they_are(changes: list[str]) -> None:
    assert [line.partition(" (")[0] for line in changes] == [
        "**6.12 to 7.3**",
        "- Fentry with libbpf 1.1 −10 %",
        "**6.1 to 6.12**",
        "- Fentry with libbpf 1.1 +10 %",
        "- Kprobe with libbpf 1.1 −3.1 %",
    ]


def test_a_change_leads_to_its_cause_and_says_above_five_per_cent_where_none_is_known(
    changes: list[str],
) -> None:
    ends = [line.partition(")")[2] for line in changes if line.startswith("- ")]
    assert ends == ["; [cause](/kernels/changes/#why).", "; cause unknown.", "."]


def test_nothing_counted_has_no_page(data: Path) -> None:
    assert list(kernel_changes.write_series(read_catalogue(DataFolder(data)))) == []


def test_each_architecture_has_a_page_that_leads_to_the_other(data: Path) -> None:
    for machine, architecture in (("qemu-x", "amd64"), ("qemu-a", "arm64")):
        values = counted_values(f"6.1.0-50-{architecture}", machine)
        values["machine"]["architecture"] = {"amd64": "x86_64", "arm64": "aarch64"}[architecture]
        write_counted_submission(data, counted_rows({"02-kprobe libbpf": 640}), values)
    pages = dict(kernel_changes.write_series(read_catalogue(DataFolder(data))))
    assert "The same [on arm64](/kernels/series/arm64/)." in pages["kernels/series.md"]
    assert "The same [on x86-64](/kernels/series/)." in pages["kernels/series/arm64.md"]
