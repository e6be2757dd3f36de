"""What building the site and each tier of tests takes in a fresh clone with empty caches, and again in the same clone.

Usage: PYTHONPATH=tests python -m evidence.tiers [--deep] [--write] [--folder DIR] [--earlier FILE]. Nothing else should
run beside it. What is cloned is the last commit. `--deep` runs `make test-all` too, which takes most of an hour, and
`--earlier` has the jobs of an earlier run for those that are not run now. `--write` puts the table into HACKING. The
clone stays in the folder, if one is given, with the output of each job and all of them as `jobs.json`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from evidence.method_tables import PROJECT

HACKING = PROJECT / "generator" / "HACKING.md"
BEGIN, END = "<!-- made by evidence.tiers: -->", "<!-- :made by evidence.tiers -->"
JOBS = (("make site", "cold"), ("make site", "again"), ("make test", "cold"), ("make test", "again"))
DEEP = ("make test-all", "again")
SLOWEST = 10
OURS = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV"}


@dataclass(frozen=True, slots=True)
class Job:
    """A command of make as it ran: its wall and CPU seconds, its exit status, and pytest's counts by their word."""

    commit: str
    command: str
    caches: str
    wall_s: float
    cpu_s: float
    status: int
    counts: dict[str, int]


def counts(output: str) -> dict[str, int]:
    """`passed`, `skipped`, `failed` and `errors` by pytest's closing line with the most tests; none without."""
    closing = (line for line in output.splitlines() if re.search(r"\d+ passed.* in [\d.]+s", line))
    found = [{word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", line)} for line in closing]
    return max(found, key=lambda each: each["passed"], default={})


def run(clone: Path, commit: str, command: str, caches: str, record: Path) -> Job:
    """Run a command of make in the clone, which has its own home and caches beside it."""
    home = clone.parent / "home"
    environment = {name: value for name, value in os.environ.items() if name not in OURS} | {
        "CI": "true",
        "HOME": str(home),
        "UV_CACHE_DIR": str(home / "uv"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "PROBE_EFFECT_TIME_RECORD": str(record),
    }
    output = clone.parent / f"{command.replace(' ', '-')}-{caches}.txt"
    begun_s, before = time.monotonic(), os.times()
    with output.open("wb") as stream:
        ran = subprocess.run(command.split(), cwd=clone, env=environment, stdout=stream, stderr=stream, check=False)
    after = os.times()
    return Job(
        commit=commit,
        command=command,
        caches=caches,
        wall_s=time.monotonic() - begun_s,
        cpu_s=after.children_user + after.children_system - before.children_user - before.children_system,
        status=ran.returncode,
        counts=counts(output.read_text(encoding="utf-8", errors="replace")),
    )


def slowest(record: Path) -> list[tuple[str, float]]:
    """The tests that took most CPU seconds, all their phases together, with the seconds."""
    used_s: defaultdict[str, float] = defaultdict(float)
    for line in record.read_text(encoding="utf-8").splitlines():
        phase = json.loads(line)
        used_s[phase["what"].split("/")[-1]] += phase["used_s"]
    del used_s["collection"]
    return sorted(used_s.items(), key=lambda one: -one[1])[:SLOWEST]


def table(jobs: list[Job], tests: list[tuple[str, float]]) -> str:
    """Markdown of the jobs, and of the slowest tests of the first tier."""
    lines = [
        f"In a fresh clone with empty caches, and again in the same clone, on {os.cpu_count()} CPUs:",
        "",
        "| Command | Caches | Time | CPU time | Passed | Skipped | Failed | Commit |",
        "|:--|:--|--:|--:|--:|--:|--:|:--|",
    ]
    for job in jobs:
        numbers = [str(job.counts.get(word, 0)) if job.counts else "" for word in ("passed", "skipped", "failed")]
        if job.status and not job.counts.get("failed"):
            numbers[-1] = f"exit {job.status}"
        minutes, seconds = divmod(round(job.wall_s), 60)
        times = f"{minutes} min {seconds} s | {job.cpu_s:.0f} s"
        lines.append(f"| `{job.command}` | {job.caches} | {times} | {' | '.join(numbers)} | {job.commit} |")
    named = ", ".join(f"`{name}` {used_s:.0f}" for name, used_s in tests)
    return "\n".join([*lines, "", f"The slowest tests of `make test`, in CPU seconds: {named}."])


@click.command()
@click.option("--deep", is_flag=True, help="`make test-all` too.")
@click.option("--write", is_flag=True, help="Put the table into HACKING.")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="Where the clone is made, and stays.")
@click.option("--earlier", type=click.Path(path_type=Path, exists=True), help="`jobs.json` of an earlier run.")
def main(*, deep: bool, write: bool, folder: Path | None, earlier: Path | None) -> None:
    """Print as Markdown what building and testing a fresh clone takes. The exit status is 1 if a job failed."""
    with ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tiers-")))
        place.mkdir(parents=True, exist_ok=True)
        clone = place / "clone"
        subprocess.run(["git", "clone", "--quiet", PROJECT, clone], check=True)  # noqa: S607
        asked = ("git", "rev-parse", "--short=8", "HEAD")
        commit = subprocess.check_output(asked, cwd=clone, text=True).strip()
        jobs, record = [], {caches: place / f"{caches}.jsonl" for caches in ("cold", "again")}
        for command, caches in (*JOBS, *([DEEP] if deep else [])):
            click.echo(f"{command}, {caches}", err=True)
            jobs.append(run(clone, commit, command, caches, record[caches]))
            click.echo(jobs[-1], err=True)
        ran = {(job.command, job.caches) for job in jobs}
        before = [Job(**values) for values in json.loads(earlier.read_text(encoding="utf-8"))] if earlier else []
        jobs += [job for job in before if (job.command, job.caches) not in ran]
        (place / "jobs.json").write_text(json.dumps([asdict(job) for job in jobs]), encoding="utf-8")
        text = table(jobs, slowest(record["cold"]))
    click.echo(text)
    if write:
        head, _, rest = HACKING.read_text(encoding="utf-8").partition(BEGIN)
        HACKING.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    raise SystemExit(any(job.status for job in jobs))


if __name__ == "__main__":
    main()
