"""Where the time of `make test` goes, from a fresh clone with empty caches and again, as a table for HACKING.md.

Usage: .venv/bin/python -m benchmarks.suite_time [--write] (as root, on a quiet machine; twice the time of `make test`).
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

PROJECT = Path(__file__).resolve().parent.parent
HACKING = PROJECT / "HACKING.md"
BEGIN, END = "<!-- benchmarks/suite_time.py -->", "<!-- end -->"

TOOLS = ("setup", "build/node.stamp", "build/actionlint", "build/act")
"""What `make test` fetches and compiles before or beside the tests."""

WHOLE = "make test"
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
    "fetches and tools",
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
    if when == "tool":
        return "fetches and tools"
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
    """Category to what it used."""
    found = {name: Used() for name in (*ORDER, WHOLE)}
    for line in lines:
        name = WHOLE if line["when"] == WHOLE else category(line)
        test = re.sub(r".*::|\[.*|@.*", "", str(line["what"]))
        found[name].add(test, float(str(line["took_s"])), float(str(line["used_s"])))
    return found


def table(cold: dict[str, Used], again: dict[str, Used]) -> str:
    """The table of both, in Markdown."""
    rows = ["| | cold, s | of CPU | again, s | of CPU | the longest |", "|:--|--:|--:|--:|--:|:--|"]
    for name in (*ORDER, WHOLE):
        figures = [f"{value:.0f}" for one in (cold[name], again[name]) for value in (one.took_s, one.used_s)]
        longest = f"`{again[name].longest[1]}`, {again[name].longest[0]:.0f} s" if again[name].longest[1] else ""
        rows.append(f"| {name} | {' | '.join(figures)} | {longest if name != WHOLE else ''} |")
    return "\n".join(rows)


def read(record: Path) -> list[dict[str, object]]:
    """The lines of a record."""
    return [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]


def timed(words: list[str], folder: Path, environment: dict[str, str], when: str) -> dict[str, object]:
    """What a command took, which has to end well."""
    before, begun_s = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(words, cwd=folder, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"what": words[-1], "when": when, "took_s": time.monotonic() - begun_s, "used_s": used_s, "marks": []}


def measured(clone: Path, environment: dict[str, str], record: Path) -> list[dict[str, object]]:
    """The lines of one `make test` in that clone, its tools made first, one by one."""
    tools = [timed(["make", tool], clone, environment, "tool") for tool in TOOLS]
    more = {"PROBE_EFFECT_TIME_RECORD": str(record), "PYTEST_ADDOPTS": "-p time_record", "PYTHONPATH": "tests"}
    whole = timed(["make", "test"], clone, environment | more, WHOLE)
    return [*tools, whole, *read(record)]


@click.command()
@click.option("--write", is_flag=True, help="Put the table into HACKING.md.")
def main(*, write: bool) -> None:
    """Measure both runs in a fresh clone with caches of its own, and print the table."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        subprocess.run(["git", "clone", "--quiet", PROJECT, place / "clone"], check=True)  # noqa: S607
        caches = {name: str(place / name) for name in ("HOME", "XDG_CACHE_HOME", "UV_CACHE_DIR")}
        (place / "HOME").mkdir()
        runs = [measured(place / "clone", os.environ | caches, place / f"{run}.jsonl") for run in ("cold", "again")]
    text = table(*map(sums, runs))
    print(text)
    if write:
        page = HACKING.read_text(encoding="utf-8")
        between = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
        HACKING.write_text(between.sub(lambda _: f"{BEGIN}\n\n{text}\n\n{END}", page), encoding="utf-8")


if __name__ == "__main__":
    main()
