"""What a site of many submissions takes: time, memory and size, beside Hugo alone on the same pages.

Usage: .venv/bin/python -m benchmarks.scale [--sizes 10,100] [--out FILE] [--keep DIR] (`make scale` runs all sizes).

Each size is made by `benchmarks.synthetic` and built three times: cold, again with nothing changed, and with one
submission more. It is built in a private copy of the project, so the checkout's own `build/` stays as it is. The page
of results is written anew after every step, so that nothing is lost when a later one fails.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING

import click
from benchmarks.scale_measured import ADDED, AGAIN, COLD, Build, Measured, seconds
from benchmarks.scale_report import Conditions, Report, markdown
from benchmarks.scale_run import copy_project, git, revision, run, steps, timing
from benchmarks.scale_site import site_size
from benchmarks.scale_watch import Watch
from benchmarks.synthetic import PROJECT, TEMPLATES, numbers, write_data

from probe_effect import __version__
from probe_effect.errors import ProbeEffectError
from probe_effect.exports.build import Places, fitted
from probe_effect.exports.hugo import SiteOptions, run_hugo
from probe_effect.host import ROOT
from probe_effect.machine.busy import load_average
from probe_effect.machine.collect import collect_machine
from probe_effect.machine.kernel import kernel_release
from probe_effect.store.places import DataFolder, SubmissionFolder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.scale_watch import Used

RESULTS = PROJECT / "benchmarks" / "RESULTS.md"
SIZES = "10,100,300,1000"
FEWEST = 3
"""Submissions, so that there are two to compare, and one of each template."""

KEPT = ("build/kept", "site/resources")
"""Folders of a project in which builds keep things for the next one: without them a build is cold."""

PREDICT = ("predict", "--rate", "50k", "--case", "06-uprobe", "--tracer", "bpftrace")
NUMBER = "06-uprobe/bpftrace"
"""One that the first submission has: its case and tracer."""

PACKAGES = ("numpy", "hugo", "pagefind", "vl-convert-python")
"""What a build's time depends on, beside ourselves."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Where one size is built: a copy of the project, and a repository that holds the data."""

    project: Path
    repository: Path

    @property
    def data(self) -> Path:
        """The synthetic data."""
        return self.repository / "data"

    @property
    def places(self) -> Places:
        """Where a build reads and writes."""
        return Places(self.project, DataFolder(self.data), self.repository / "build" / "site")

    def build(self, name: str) -> Build:
        """One build, then Hugo alone on the work folder that it left. Raises: ProbeEffectError."""
        if name == COLD:
            for kept in (*(self.project / folder for folder in KEPT), self.places.out, self.places.work):
                shutil.rmtree(kept, ignore_errors=True)
        words = ("build", "--data", str(self.data), "--out", str(self.places.out))
        whole, said = run(f"build, {name}", words, self.project)
        return Build(whole=whole, steps=steps(said, whole.seconds), hugo=hugo_alone(self.places))

    def published_commands(self, made: Sequence[Path]) -> dict[str, list[str]]:
        """What readers of published data call, each by its name on the page."""
        first, second = made[:2]
        data = ["--data", str(self.data)]
        return {
            "--help": ["--help"],
            " ".join(PREDICT): [*PREDICT, *data],
            "cite NUMBER": ["cite", f"{SubmissionFolder(first).id}/{NUMBER}", *data],
            "compare A B": ["compare", str(first), str(second), *data],
        }

    def added_commands(self, added: Path) -> dict[str, list[str]]:
        """What is called for a submission that is not published yet."""
        data = ["--data", str(self.data)]
        return {"check SUBMISSION": ["check", str(added), *data], "review HEAD": ["review", "HEAD", *data]}

    def publish(self) -> None:
        """Commit the data as it is now. Raises: ProbeEffectError."""
        git(self.repository, "init", "--quiet")
        git(self.repository, "add", "data")
        git(self.repository, "commit", "--quiet", "--message", "Data")


def hugo_alone(places: Places) -> Used:
    """What Hugo uses, called as the build calls it. Raises: ProbeEffectError."""
    options = fitted(SiteOptions(), places)
    destination = places.out.with_name("hugo-alone")
    with Watch() as watch:
        run_hugo(places.project, places.work, destination, options)
    shutil.rmtree(destination)
    return watch.used()


@dataclass
class Benchmark:
    """The whole of it: what is known so far, the page that it is written to, and the folder that it works in."""

    report: Report
    out: Path
    folder: Path
    step: str = ""
    """What is being done."""

    def measure(self, number: int) -> None:
        """Everything about one size. Raises: ProbeEffectError or OSError when a build or the data cannot be made."""
        ground = Ground(self.folder / "project", self.folder / f"size-{number}")
        self.begin(f"{number} submissions: data")
        made = write_data(ground.data, number)
        one = Measured(submissions=number, machines=len({one.parent for one in made}), numbers=numbers(number))
        self.report.sizes.append(one)
        self.build(ground, one, COLD)
        one.site = site_size(ground.places.out)
        self.build(ground, one, AGAIN)
        ground.publish()
        self.commands(ground, one, ground.published_commands(made))
        added = write_data(ground.data, number + 1)[-1]
        self.commands(ground, one, ground.added_commands(added))
        self.build(ground, one, ADDED)

    def build(self, ground: Ground, one: Measured, name: str) -> None:
        """One of the builds. Raises: ProbeEffectError."""
        self.begin(f"{one.submissions} submissions: build, {name}")
        found = one.builds[name] = ground.build(name)
        say(f"  {seconds(found.whole.seconds)}, Hugo alone {seconds(found.hugo.seconds)}")
        self.save()

    def commands(self, ground: Ground, one: Measured, commands: dict[str, list[str]]) -> None:
        """Each command, by its name on the page. One that fails is told, and does not cost the others."""
        for name, words in commands.items():
            self.begin(f"{one.submissions} submissions: {name}")
            try:
                found = one.commands[name] = timing(name, words, ground.repository)
            except ProbeEffectError as error:
                self.fail(error)
                continue
            say(f"  {seconds(found.seconds)}")
            self.save()

    def begin(self, step: str) -> None:
        """Say what is done next."""
        self.step = step
        say(step)

    def fail(self, error: Exception) -> None:
        """Tell what failed, and note it on the page."""
        say(f"error: {self.step}: {error}")
        self.report.failed.append(self.step)
        self.save()

    def save(self) -> None:
        """Write the page as far as it is known."""
        self.out.write_text(markdown(self.report), encoding="utf-8")


def conditions(folder: Path) -> Conditions:
    """This machine, its programs and where it builds, before anything is measured; the folder is made for it."""
    folder.mkdir(parents=True, exist_ok=True)
    ours = {"probe-effect": f"{__version__} ({revision()})", "Python": python_version()}
    return Conditions(
        machine=collect_machine(),
        kernel_release=kernel_release(ROOT),
        load_before=load_average(),
        file_system=subprocess.check_output(
            ["/usr/bin/stat", "--file-system", "--format=%T", folder], text=True
        ).strip(),
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        versions=ours | {name: version(name) for name in PACKAGES},
    )


def say(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)


def read_sizes(_: click.Context, __: click.Parameter, text: str) -> list[int]:
    """`10,100` as numbers, smallest first. Raises: click.BadParameter."""
    words = text.split(",")
    if not all(word.strip().isdecimal() and int(word) >= FEWEST for word in words):
        msg = f"{text}: expected numbers of submissions, each {FEWEST} or more, such as {SIZES}"
        raise click.BadParameter(msg)
    return sorted({int(word) for word in words})


@click.command()
@click.option("--sizes", default=SIZES, show_default=True, callback=read_sizes, help="Numbers of submissions.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=RESULTS, help="The page of results.")
@click.option("--keep", type=click.Path(path_type=Path), help="An empty folder to work in, which is kept.")
def main(*, sizes: list[int], out: Path, keep: Path | None) -> None:
    """Measure what a site of many submissions takes, and write the page of results."""
    if keep is not None and keep.exists() and any(keep.iterdir()):
        msg = f"{keep}: is not empty. Expected an empty folder, or none yet."
        raise click.BadParameter(msg)
    with tempfile.TemporaryDirectory(prefix="scale-") if keep is None else nullcontext(str(keep)) as folder:
        benchmark = Benchmark(
            Report(conditions=conditions(Path(folder)), templates=TEMPLATES), out, Path(folder).resolve()
        )
        measure_all(benchmark, sizes, is_kept=keep is not None)
    say(f"{out}: what was measured")
    sys.exit(1 if benchmark.report.failed else 0)


def measure_all(benchmark: Benchmark, sizes: Sequence[int], *, is_kept: bool) -> None:
    """Each size, as far as they can be measured."""
    try:
        benchmark.begin("a copy of the project")
        copy_project(benchmark.folder / "project")
        for number in sizes:
            benchmark.measure(number)
            if not is_kept:
                shutil.rmtree(benchmark.folder / f"size-{number}")
    except (ProbeEffectError, OSError) as error:
        benchmark.fail(error)


if __name__ == "__main__":
    main()
