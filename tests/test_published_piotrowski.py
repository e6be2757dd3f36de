"""Piotrowski's talk of 2023: the transcription holds what the slides say.

Every expected number below was read in the text of the slides and typed here by hand.
"""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "data" / "published" / "piotrowski-2023-tracing-overhead"

COLUMNS = (
    "figure,group,what,printed,value,unit,platform,case,tracer,probe,action,cost_ns,cost_from,baseline_ns,"
    "baseline_from,baseline_formula,formula,statistic,spread_ns,grade,note"
).split(",")

CASES = [
    "01-control", "02-kprobe", "03-kretprobe", "04-tracepoint-entry", "05-tracepoint-return", "06-uprobe",
    "07-uretprobe", "08-filter", "09-map", "10-single-key", "11-string-key", "12-two-keys", "13-kernel-stack",
    "14-user-stack", "15-histogram", "16-timing", "17-multiple", "18-per-event",
]  # fmt: skip

TABLE_COLUMNS = [(0, "gregg"), (1, "bpftrace"), (2, "dtrace")]
BUILD_COLUMNS = [(0, "cadets"), (1, "dtrace"), (2, "bpftrace")]

# The two tables of benchmark 1, row by row: Gregg's bpftrace, bpftrace, DTrace.
COSTS = [
    (0, 0, 0), (78, 56, 280), (217, 199, 285), (99, 74, 76), (95, 63, 73), (1317, 1085, 854), (1977, 1547, 1416),
    (128, 57, 315), (194, 77, 327), (212, 130, 356), (231, 160, 377), (234, 176, 401), (344, 322, 762),
    (668, 1077, 827), (238, 133, 360), (651, 473, 682), (856, 1264, 1313), (870, 1539, 312),
]  # fmt: skip
PER_CENTS = [
    (0, 0, 0), (13, 21, 121), (36, 76, 123), (17, 28, 33), (16, 24, 32), (221, 414, 368), (331, 591, 611),
    (21, 22, 136), (33, 29, 141), (36, 49, 154), (39, 61, 163), (39, 67, 173), (58, 123, 329), (112, 411, 357),
    (40, 51, 155), (109, 181, 294), (143, 483, 566), (146, 588, 135),
]  # fmt: skip
# The two tables of benchmark 2, row by row: CADETS, DTrace, bpftrace.
BUILD_SECONDS = [
    ("460", "32.92", "43.28"), ("530", "36.43", "44.05"), ("460", "33.38", "43.32"), ("470", "33.58", "43.46"),
    ("570", "36.62", "44.51"), ("480", "33.54", "43.41"), ("500", "33.69", "43.52"), ("570", "35.61", "49.97"),
    ("1210", "160.36", "62.14"), ("550", "35.09", "43.15"),
]  # fmt: skip
BUILD_PER_CENTS = [
    (0, 0, 0), (15, 10, 2), (0, 1, 0), (2, 2, 0), (24, 11, 2), (4, 2, 0), (9, 2, 1), (24, 8, 16), (163, 386, 44),
    (20, 7, 0),
]  # fmt: skip

SINGLE_FIGURES = [
    ("probes_bpftrace_ufs", "3684", "3684", "count"),
    ("probes_bpftrace_ufs_occ", "8", "8", "count"),
    ("probes_bpftrace_ufs_a", "11086", "11086", "count"),
    ("probes_bpftrace_ufs_abv", "18268", "18268", "count"),
    ("probes_dtrace_ufs", "129", "129", "count"),
    ("probes_dtrace_ufs_occ", "6", "6", "count"),
    ("probes_dtrace_ufs_a", "3588", "3588", "count"),
    ("probes_dtrace_ufs_abv", "8040", "8040", "count"),
    ("probes_bpftrace_syscall_all", "574", "574", "count"),
    ("probes_bpftrace_syscall_entry", "287", "287", "count"),
    ("probes_dtrace_syscall_all", "2296", "2296", "count"),
    ("probes_dtrace_syscall_entry", "1148", "1148", "count"),
    ("probes_bpftrace_vfs_all", "134", "134", "count"),
    ("probes_bpftrace_vfs_wroc", "8", "8", "count"),
    ("probes_dtrace_vfs_all", "181", "181", "count"),
    ("probes_dtrace_vfs_wroc", "8", "8", "count"),
    ("probes_bpftrace_sched", "24", "24", "count"),
    ("probes_dtrace_sched", "13", "13", "count"),
    ("ktrace_s_dtrace", "0m1.069s", "1.069", "s"),
    ("ktrace_probes_dtrace", "51486", "51486", "count"),
    ("ktrace_s_bpftrace", "0m44.312s", "44.312", "s"),
    ("ktrace_probes_bpftrace", "1090", "1090", "count"),
    ("stop_bpftrace", "~10 minutes", "600", "s"),
    ("stop_dtrace", "half a minute", "30", "s"),
    ("limit_files_build", "200000", "200000", "count"),
    ("limit_probes_build", "22000", "22000", "count"),
    ("limit_probes_ktrace", "5000", "5000", "count"),
    ("limit_programs_ktrace", "2000", "2000", "count"),
    ("limit_files_ktrace", "100000", "100000", "count"),
    ("claim_as_high_as", "600%", "600", "percent"),
    ("claim_measurable", "≥ 1%", "1", "percent"),
    ("claim_significant", "≥ 5%", "5", "percent"),
    ("claim_at_most", "≤ 30%", "30", "percent"),
    ("claim_kutrace", "≤1%", "1", "percent"),
    ("cpus", "32 CPUs", "32", "count"),
    ("clock", "2.90GHz", "2.90", "GHz"),
    ("memory", "400 GB", "400000", "MB"),
    ("dd_reads", "count=10000000", "10000000", "count"),
    ("scripts", "18", "18", "count"),
    ("scenarios", "9", "9", "count"),
    ("make_jobs", "make -j 32", "32", "count"),
]

Row = dict[str, str]


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    with (FOLDER / "figures.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        assert reader.fieldnames == COLUMNS
        return {row["figure"]: row for row in reader}


@pytest.fixture(scope="module")
def source() -> dict[str, Any]:
    return tomllib.loads((FOLDER / "source.toml").read_text(encoding="utf-8"))


def test_the_printed_rows_are_as_many_as_the_slides_print(rows: dict[str, Row]) -> None:
    # Counted on the slides: 18 scripts x 3 columns x 2 tables = 108; 10 builds x 3 columns x 2 tables = 60;
    # 18 probe counts; 4 figures of the ktrace example; 2 stop times; 5 limits; 5 statements; 7 of the setup.
    assert sum(bool(row["printed"]) for row in rows.values()) == 108 + 60 + 18 + 4 + 2 + 5 + 5 + 7


def test_the_derived_rows_are_the_ones_we_added(rows: dict[str, Row]) -> None:
    # 3 baselines; 2 x 3 returns over entries; 9 scenarios x 3 build ratios; 9 x 2 probe totals; 4 attach figures.
    assert sum(not row["printed"] for row in rows.values()) == 3 + 6 + 27 + 18 + 4


@pytest.mark.parametrize("script", range(1, 19))
@pytest.mark.parametrize(("column", "name"), TABLE_COLUMNS)
def test_a_cost_of_the_first_table_stands_as_printed(rows: dict[str, Row], script: int, column: int, name: str) -> None:
    expected = str(COSTS[script - 1][column])
    row = rows[f"ns_{name}_{script:02d}"]
    assert (row["printed"], row["value"], row["unit"]) == (expected, expected, "ns")
    assert (row["cost_ns"], row["cost_from"], row["case"]) == (expected, "printed", CASES[script - 1])
    assert row["tracer"] == ("dtrace" if name == "dtrace" else "bpftrace")
    assert (row["baseline_from"], row["baseline_formula"]) == ("derived", f"baseline_{name}")


@pytest.mark.parametrize("script", range(1, 19))
@pytest.mark.parametrize(("column", "name"), TABLE_COLUMNS)
def test_a_per_cent_of_the_second_table_stands_as_printed(
    rows: dict[str, Row], script: int, column: int, name: str
) -> None:
    expected = PER_CENTS[script - 1][column]
    row = rows[f"pct_{name}_{script:02d}"]
    assert (row["printed"], row["value"], row["unit"]) == (f"{expected} %", str(expected), "percent")
    assert row["formula"] == f"ns_{name}_{script:02d} / baseline_{name}"
    assert row["cost_ns"] == ""


@pytest.mark.parametrize("scenario", range(10))
@pytest.mark.parametrize(("column", "name"), BUILD_COLUMNS)
def test_a_build_stands_as_printed(rows: dict[str, Row], scenario: int, column: int, name: str) -> None:
    seconds, per_cent = rows[f"build_s_{name}_{scenario}"], rows[f"build_pct_{name}_{scenario}"]
    expected = BUILD_SECONDS[scenario][column]
    assert (seconds["printed"], seconds["value"], seconds["unit"]) == (expected, expected, "s")
    assert seconds["statistic"] == "average"
    expected_per_cent = BUILD_PER_CENTS[scenario][column]
    assert (per_cent["printed"], per_cent["value"]) == (f"{expected_per_cent} %", str(expected_per_cent))
    assert per_cent["unit"] == "percent"


@pytest.mark.parametrize(("figure", "printed", "value", "unit"), SINGLE_FIGURES)
def test_a_single_figure_stands_as_printed(
    rows: dict[str, Row], figure: str, printed: str, value: str, unit: str
) -> None:
    row = rows[figure]
    assert (row["printed"], row["value"], row["unit"]) == (printed, value, unit)


@pytest.mark.parametrize(("column", "name"), TABLE_COLUMNS)
def test_the_baseline_is_the_sum_of_costs_over_the_sum_of_per_cents(
    rows: dict[str, Row], column: int, name: str
) -> None:
    costs = sum(row[column] for row in COSTS[1:])
    per_cents = sum(row[column] for row in PER_CENTS[1:])
    assert rows[f"baseline_{name}"]["value"] == f"{100 * costs / per_cents:.1f}"


def test_the_baselines_are_about_597_262_and_231_ns(rows: dict[str, Row]) -> None:
    values = [float(rows[f"baseline_{name}"]["value"]) for name in ("gregg", "bpftrace", "dtrace")]
    assert values == pytest.approx([597, 262, 231], abs=1)


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        ("probes_bpftrace_scenario_1", 3684 + 574 + 134),
        ("probes_bpftrace_scenario_5", 8 + 287 + 8 + 24),
        ("probes_bpftrace_scenario_8", 18268 + 574),
        ("probes_dtrace_scenario_4", 129 + 2296 + 181 + 13),
        ("probes_dtrace_scenario_8", 8040 + 2296),
        ("probes_dtrace_scenario_9", 181),
        ("extra_kernel_return_bpftrace", 199 - 56),
        ("extra_kernel_return_dtrace", 285 - 280),
        ("extra_user_return_dtrace", 1416 - 854),
    ],
)
def test_a_derived_row_is_what_the_slides_add_up_to(rows: dict[str, Row], figure: str, expected: int) -> None:
    assert (rows[figure]["printed"], rows[figure]["value"]) == ("", str(expected))


def test_every_per_cent_that_averages_do_not_give_has_a_finding(source: dict[str, Any]) -> None:
    # Worked out by hand from the two build tables: 36.43, 160.36 (DTrace), 44.51, 49.97 (bpftrace).
    found = {finding["id"] for finding in source["findings"] if finding["id"].startswith("best-runs-against-averages-")}
    assert found == {
        "best-runs-against-averages-dtrace-1",
        "best-runs-against-averages-dtrace-8",
        "best-runs-against-averages-bpftrace-4",
        "best-runs-against-averages-bpftrace-7",
    }


@pytest.mark.parametrize(
    ("finding", "figures"),
    [
        (
            "at-most-thirty-per-cent-against-the-tables",
            ["claim_at_most", "build_pct_bpftrace_8", "build_pct_cadets_8", "build_pct_dtrace_8", "claim_as_high_as"],
        ),
        ("traced-faster-than-untraced", ["build_s_bpftrace_9", "build_s_bpftrace_0"]),
        ("one-name-different-probe-counts", ["probes_bpftrace_ufs", "probes_dtrace_ufs"]),
        ("printing-without-drop-counts", ["ns_bpftrace_18", "ns_dtrace_18"]),
    ],
)
def test_a_contradiction_of_the_slides_is_told_with_its_numbers(
    source: dict[str, Any], finding: str, figures: list[str]
) -> None:
    sentence = next(entry["sentence"] for entry in source["findings"] if entry["id"] == finding)
    assert all(f"{{{figure}}}" in sentence for figure in figures)


def test_the_source_says_that_it_was_read_in_full(source: dict[str, Any]) -> None:
    assert (source["read"], source["grade"], source["date"]) == ("full", "S", "2023-05-19")
