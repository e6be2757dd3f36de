"""Where the time of the tests goes, as a table for HACKING.md, from records that runs of them wrote.

A run writes its record with `tests/time_record.py`, as root on a quiet machine, in a fresh clone:

    PROBE_EFFECT_TIME_RECORD=/tmp/cold.jsonl make test

Usage: .venv/bin/python -m benchmarks.suite_time [--write] cold=/tmp/cold.jsonl [again=/tmp/again.jsonl]
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from benchmarks.tables_in_pages import put

if TYPE_CHECKING:
    from collections.abc import Iterable


WHOLE = "all"
REST = "the rest"
FILES = {
    "guests": r"test_emulated_real",
    "style, types and workflows' syntax": r"test_lint",
    "workflows": r"test_workflow_runs|test_pull_request",
    "guide": r"test_transcripts|test_guide|test_typed_commands|test_contributing",
    "the wheel": r"test_wheel",
}
"""Category to the files whose tests are all of it; any other test is of one by its marks and phase."""

ORDER = (
    *FILES,
    "site builds",
    "the built site's files",
    "browser",
    "real tracers",
    "collection",
    REST,
)


@dataclass
class Used:
    """Seconds of wall and of CPU time, and what took the most of them."""

    took_s: float = 0.0
    used_s: float = 0.0
    longest: tuple[float, str] = (0.0, "")

    def add(self, what: str, took_s: float, used_s: float) -> None:
        """Count one more."""
        self.took_s += took_s
        self.used_s += used_s
        self.longest = max(self.longest, (took_s, what))


def category(line: dict[str, object]) -> str:
    """That of a phase of a test."""
    what, when, marks = str(line["what"]), line["when"], str(line["marks"])
    if when == "collection":
        return "collection"
    for name, files in FILES.items():
        if re.search(rf"\b({files})\.py", what):
            return name
    if "site" in marks:
        is_build = when == "setup" or "test_build" in what
        return "site builds" if is_build else "browser" if "browser" in marks else "the built site's files"
    return "real tracers" if "tracer" in marks else REST


def sums(lines: Iterable[dict[str, object]]) -> dict[str, Used]:
    """Category to what it used; of all, how long the run took."""
    found = {name: Used() for name in (*ORDER, WHOLE)}
    begun_s, ended_s = float("inf"), 0.0
    for line in lines:
        test = re.sub(r".*::|\[.*|@.*", "", str(line["what"]))
        took_s, used_s = float(str(line["took_s"])), float(str(line["used_s"]))
        found[category(line)].add(test, took_s, used_s)
        found[WHOLE].used_s += used_s
        begun_s = min(begun_s, float(str(line["begun_s"])))
        ended_s = max(ended_s, float(str(line["begun_s"])) + took_s)
    found[WHOLE].took_s = ended_s - begun_s
    return found


def table(runs: dict[str, dict[str, Used]]) -> str:
    """The table of some runs by name, in Markdown; a category's time is that of all workers together."""
    heads = " | ".join(f"{name}, s | of CPU" for name in runs)
    rows = [f"| | {heads} | the longest |", f"|:--|{'--:|--:|' * len(runs)}:--|"]
    last = list(runs.values())[-1]
    for name in (*ORDER, WHOLE):
        figures = [f"{value:.0f}" for one in runs.values() for value in (one[name].took_s, one[name].used_s)]
        took_s, test = last[name].longest
        rows.append(f"| {name} | {' | '.join(figures)} | {f'`{test}`, {took_s:.0f} s' if test else ''} |")
    return "\n".join(rows)


def read(record: Path) -> list[dict[str, object]]:
    """The lines of a record."""
    return [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]


@click.command()
@click.option("--write", is_flag=True, help="Put the table into HACKING.md.")
@click.argument("records", metavar="NAME=RECORD", nargs=-1, required=True)
def main(*, records: tuple[str, ...], write: bool) -> None:
    """Print the table of some runs."""
    named = (one.partition("=") for one in records)
    text = table({name: sums(read(Path(path))) for name, _, path in named})
    print(text)
    if write:
        put("HACKING.md", "suite_time", text)


if __name__ == "__main__":
    main()
