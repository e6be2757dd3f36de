"""Figures that METHOD.md has from committed counts are those counts."""

from __future__ import annotations

import re

import pytest

from builders import PROJECT, REAL_DATA
from probe_effect.numbers.catalogue import read_numbers
from probe_effect.store.places import DataFolder, SubmissionFolder

KERNELS = {
    "5.10": "qemu-tcg-2t-linux-5-10-0-32-arm64-2839",
    "6.1": "qemu-tcg-2t-linux-6-1-0-50-arm64-d6ec",
    "6.12": "qemu-tcg-2t-linux-6-12-107-deb13-arm64-f6c5",
    "7.3": "qemu-tcg-2t-linux-7-3-4-deb13-arm64-f61a",
}
"""The machines on which the table of arm64's first instructions was counted, by their kernels."""

CASES = {
    "b": "24-uprobe-branch",
    "ret": "06-uprobe-ret-only",
    "cbz": "25-uprobe-cbz",
    "adrp": "23-uprobe-adrp",
    "nop": "20-uprobe-nop",
    "bti c": "21-uprobe-bti",
    "paciasp": "22-uprobe-paciasp",
    "stp": "07-uprobe-prologue",
    "mov": "26-uprobe-mov",
}
STEPPED = ("bti c", "paciasp", "stp", "mov")
EMULATED = ("b", "ret", "cbz", "adrp")

Table = dict[str, dict[str, int]]


@pytest.fixture(scope="module")
def counted() -> dict[str, dict[str, float]]:
    """Kernel to case to what an event takes with libbpf."""
    data = DataFolder(REAL_DATA)
    folders = [SubmissionFolder(data.root / "results" / one / "2026-11-22-user-probes") for one in KERNELS.values()]
    names = {machine: kernel for kernel, machine in KERNELS.items()}
    return {
        names[submission.document.machine.id]: {
            number.case: number.cost.value for number in submission.numbers if number.tracer == "libbpf" and number.cost
        }
        for submission in read_numbers(data, folders).active
    }


@pytest.fixture(scope="module")
def text() -> str:
    return (PROJECT / "METHOD.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def table(text: str) -> Table:
    """Instruction to kernel to the figure in the table."""
    found = re.search(r"^\| First instruction of arm64 .*?\n\n", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    head, _, *rows = found[0].strip().splitlines()
    kernels = [cell.removeprefix("Linux ").strip() for cell in head.strip("| ").split(" | ")[1:]]
    cells = [row.strip("| ").split(" | ") for row in rows]
    return {name.strip("`"): dict(zip(kernels, map(int, figures), strict=True)) for name, *figures in cells}


def test_the_table_of_arm64s_first_instructions_has_every_case_and_kernel(table: Table) -> None:
    assert table.keys() == CASES.keys()
    assert all(list(figures) == list(KERNELS) for figures in table.values())


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_figure_of_the_table_is_what_was_counted(
    table: Table, counted: dict[str, dict[str, float]], kernel: str
) -> None:
    assert {name: figures[kernel] for name, figures in table.items()} == {
        name: round(counted[kernel][case]) for name, case in CASES.items()
    }


def test_what_a_step_adds_is_the_least_and_the_greatest_difference_on_any_kernel(
    text: str, counted: dict[str, dict[str, float]]
) -> None:
    added = [
        of[CASES[stepped]] - of[CASES[emulated]]
        for of in counted.values()
        for stepped in STEPPED
        for emulated in EMULATED
    ]
    assert f"A step adds {min(added):.0f} to {max(added):.0f} instructions." in text
