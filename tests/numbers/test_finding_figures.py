"""Figures that a finding has from committed counts are those counts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from helpers.builders import PROJECT
from probe_effect.numbers.names import release_series

if TYPE_CHECKING:
    from probe_effect.numbers.catalogue import Catalogue

FINDING = PROJECT / "content/findings/what-a-uprobe-costs-depends-on-the-instruction-under-it.md"

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


Counted = list[tuple[str, dict[str, float]]]


@pytest.fixture(scope="module")
def counted(catalogue: Catalogue) -> Counted:
    """Of each submission that counted these cases on arm64: its kernel, and case to what an event takes with libbpf."""
    found = []
    for one in catalogue.counted:
        costs = {number.case: number.cost.value for number in one.numbers if number.tracer == "libbpf" and number.cost}
        if one.architecture == "aarch64" and costs.keys() >= set(CASES.values()):
            found.append((release_series(one.document.system.kernel_release), costs))
    return found


@pytest.fixture(scope="module")
def text() -> str:
    return FINDING.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def table(text: str) -> Table:
    """Instruction to kernel to the figure in the table."""
    found = re.search(r"^\| First instruction of arm64 .*?\n\n", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    head, _, *rows = found[0].strip().splitlines()
    kernels = [cell.removeprefix("Linux ").strip() for cell in head.strip("| ").split(" | ")[1:]]
    cells = [row.strip("| ").split(" | ") for row in rows]
    return {name.strip("`"): dict(zip(kernels, map(int, figures), strict=True)) for name, *figures in cells}


def columns(table: Table) -> dict[str, dict[str, int]]:
    """Kernel to instruction to the figure."""
    kernels = next(iter(table.values()))
    return {kernel: {name: figures[kernel] for name, figures in table.items()} for kernel in kernels}


def test_the_table_of_arm64s_first_instructions_has_every_case(table: Table) -> None:
    assert table.keys() == CASES.keys()


def test_each_column_of_the_table_is_what_a_submission_counted_on_its_kernel(table: Table, counted: Counted) -> None:
    known = [(kernel, {name: round(costs[case]) for name, case in CASES.items()}) for kernel, costs in counted]
    assert [kernel for kernel, column in columns(table).items() if (kernel, column) not in known] == []


def test_what_a_step_adds_is_the_least_and_the_greatest_difference_in_the_table(text: str, table: Table) -> None:
    added = [
        of[stepped] - of[emulated] for of in columns(table).values() for stepped in STEPPED for emulated in EMULATED
    ]
    said = re.search(r"A step adds (\d+) to (\d+) instructions\.", text)
    assert said is not None
    assert [int(end) for end in said.groups()] == pytest.approx([min(added), max(added)], abs=1)  # of rounded figures


MACHINES = PROJECT / "content/findings/two-machines-of-one-name-differ-sixfold.md"
ROW = re.compile(r"^\| (\w{4}) .*\| ([\d.]+) ns \| ([\d.]+) ns \| (\d+) \|$", re.MULTILINE)


def test_a_called_nop_takes_more_instructions_than_an_emulated_one_on_linux_7_3(catalogue: Catalogue) -> None:
    nops = ["02-uprobe-nop1", "03-uprobe-nop5", "30-uprobe-nop10"]
    runs = [{n.case: n.cost.value for n in one.numbers if n.tracer == "libbpf" and n.cost} for one in catalogue.counted]
    costs = [[run[case] for case in nops] for run in runs if run.keys() >= set(nops)]
    assert costs
    assert [one for one in costs if sorted(one) != one] == []


LATER = {"37a4": "2026-11-27", "2ce0": "2026-11-28"}
"""Machines that were added to the table, each with the day that stands there."""


def test_the_table_of_guards_has_the_untraced_loops_of_its_day(catalogue: Catalogue) -> None:
    rows = ROW.findall(MACHINES.read_text(encoding="utf-8"))
    assert len(rows) == 8
    untraced: dict[tuple[str, str], dict[str, list[float]]] = {}
    for machine, submissions in catalogue.numbers.machines().items():
        for one in submissions:
            if one.baseline and one.date <= LATER.get(machine.rpartition("-")[2], "2026-11-23"):
                by_day = untraced.setdefault((machine.rpartition("-")[2], one.suite), {})
                by_day.setdefault(one.date, []).append(one.baseline.value)
    for machine, user_ns, calls_ns, ratio in rows:
        for suite, stands in (("user-probes", user_ns), ("per-event", calls_ns)):
            of_day = next(iter(untraced[machine, suite].values()))  # one of the runs of that day
            assert any(float(stands) == pytest.approx(value, rel=0.01) for value in of_day)
        assert int(ratio) == round(float(calls_ns) / float(user_ns))
