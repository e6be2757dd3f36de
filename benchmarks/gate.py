"""Whether the gate of counted instructions finds regressions in scripts, and stays silent where nothing changed.

The scripts of `gate.toml` are counted in an emulated machine before and after, and `compare --fail-above` compares
them, as `.github/examples/instruction-gate.yml` does. Then runs of the same scripts are compared, each with each.

Usage: .venv/bin/python -m benchmarks.gate [--short | --write] [--runs N] (`--short`: one regression and one pair;
`--write` puts the tables into METHOD.md). It takes what emulated machines need: QEMU, packages of Debian, a C compiler.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import click
from benchmarks.tables_in_pages import PROJECT, put

LIMIT = "2%"
KERNEL = "trixie"
BLOCKS = "3"
"""As the example has: of three blocks one with much of something else moves nothing, of two it moves the number."""
EQUAL_RUNS = 9
"""Runs of the same scripts: 36 pairs of each of six scripts."""
MOST_NAMED = 3

SUITE = """\
schema_version = 1
id = "gate"
version = 1
title = "Scripts before and after a regression"
question = "Does the gate find it?"
description = "A loop reads one byte and writes one byte. Each read is one event."

[workload]
program = "dd-loop.c"
operation = "one read and one write of a byte"
system_calls = 2
"""
CASE = """
[[cases]]
id = "{id}"
title = "{id}"
probe = "kprobe"
action = "count"
what = "See gate.toml."
needs = ["kprobe"]
counted_by = "twin"
"""
CHECK = 'k:vfs_read /comm == "dd-loop"/ { @ = count() }\n'


class Pair(NamedTuple):
    """Two counts of a script, in instructions per event, and whether the gate let the second through."""

    case: str
    first: float
    second: float
    failed: bool
    grown: str


def scripts(data: Path, regressions: list[dict[str, str]], state: str) -> Path:
    """A data folder whose suite has each script in that state."""
    suite = data / "suites" / "gate"
    (suite / "workload").mkdir(parents=True)
    ours = PROJECT / "data" / "suites"
    shutil.copy(ours / "loop.h", data / "suites")
    shutil.copy(ours / "per-event" / "workload" / "dd-loop.c", suite / "workload")
    (suite / "suite.toml").write_text(SUITE + "".join(CASE.format(**one) for one in regressions))
    for one in regressions:
        (suite / f"{one['id']}.bt").write_text(one[state] + "\n")
        (suite / f"{one['id']}.check.bt").write_text(CHECK)
    return data


def probe_effect(*words: str | Path) -> str:
    """What a command prints; one that fails as a gate does is a result. Raises: CalledProcessError otherwise."""
    command = [str(Path(sys.executable).with_name("probe-effect")), *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode > 1 or not done.stdout:
        raise subprocess.CalledProcessError(done.returncode, command)
    return done.stdout


def measured(data: Path, out: Path, *words: str) -> Path:
    """The submission of a run, in an emulated machine of its own; one that is there is not made again."""
    made = [one.parent for one in out.glob("*/*/samples.csv")]
    run = ("measure", "gate", "--vm", KERNEL, "--tracer", "bpftrace=bpftrace/trixie", "--quick", "--blocks", BLOCKS)
    return made[0] if made else Path(probe_effect(*run, *words, "--data", data, "--out", out).split()[-1])


def compared(data: Path, first: Path, second: Path) -> list[Pair]:
    """What the gate says of each script."""
    found: dict[str, Any] = json.loads(
        probe_effect("compare", first, second, "--fail-above", LIMIT, "--data", data, "--format", "json")
    )
    failed = {one["case"] for one in found["failures"]}
    return [
        Pair(
            one["case"],
            one["first_cost_instructions"],
            one["second_cost_instructions"],
            one["case"] in failed,
            _grown(one["functions"]),
        )
        for one in found["comparisons"]
    ]


def _grown(functions: list[dict[str, Any]]) -> str:
    more = [(one["function"], one["second"] - one["first"]) for one in functions if one["second"] > one["first"]]
    return ", ".join(f"`{name}` +{number}" for name, number in more[:MOST_NAMED])


def tables(regressions: list[dict[str, str]], found: list[Pair], equal: list[Pair], runs: int) -> str:
    """Both tables, as Markdown."""
    by_case = {one.case: one for one in found}
    rows = [
        f"| {what['what']} | {one.first:.1f} | {one.second:.1f} | {100 * (one.second / one.first - 1):+.1f} % "
        f"| {'yes' if one.failed else 'no'} | {one.grown} |"
        for what in regressions
        if (one := by_case.get(what["id"]))
    ]
    apart = max((abs(one.second / one.first - 1) for one in equal), default=0.0)
    alarms = sum(one.failed for one in equal)
    return "\n".join(
        [
            "| Regression | before | after | change | found | functions that grew most |",
            "|:--|--:|--:|--:|:--|:--|",
            *rows,
            "",
            (
                f"Of {len(equal)} pairs of equal scripts, from {runs} runs each with each, {alarms} raised an alarm; "
                f"the two that differ most differ by {100 * apart:.2f} %."
            ),
        ]
    )


@click.command()
@click.option("--short", is_flag=True, help="One regression, and one pair of equal runs.")
@click.option("--write", is_flag=True, help="Put the tables into METHOD.md.")
@click.option("--runs", default=EQUAL_RUNS, help="How many runs of the same scripts.", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Where runs are kept, and found again. [default: nowhere]")
def main(*, short: bool, write: bool, runs: int, out: Path | None) -> None:
    """Print both tables; exit with 1 where a regression is not found or equal runs raise an alarm."""
    regressions = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())["regression"][: 1 if short else None]
    runs = 2 if short else runs
    with tempfile.TemporaryDirectory() as folder:
        before, after = (scripts(Path(folder) / state, regressions, state) for state in ("before", "after"))
        asked = [(before, "0", "--paths"), (after, "head", "--paths"), *((before, f"{one}") for one in range(1, runs))]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            place = out or Path(folder)
            first, head, *rest = pool.map(lambda one: measured(one[0], place / one[1], *one[2:]), asked)
        equal = [first, *rest]
        found = compared(after, first, head)
        pairs = [pair for two in combinations(equal, 2) for pair in compared(before, *two)]
    text = tables(regressions, found, pairs, runs)
    click.echo(text)
    if write:
        put("METHOD.md", "gate", text)
    missed = len(regressions) - sum(one.failed for one in found)
    sys.exit(bool(missed or any(one.failed for one in pairs)))


if __name__ == "__main__":
    main()
