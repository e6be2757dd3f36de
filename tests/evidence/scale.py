"""What a site of many submissions takes: time, memory and size, beside Hugo alone on the same pages.

Usage: PYTHONPATH=tests .venv/bin/python -m evidence.scale [--sizes 0,10,100] [--resume] [--alone] [--out FILE]
[--keep DIR] (`make scale` runs all sizes).

So many submissions as a size says are made by `evidence.honest`, beside all of the checkout's own data, and built
three times: cold, again with nothing changed, and with one submission more. That is done in a private copy of the
project, so the checkout's own `build/` stays as it is. The page of results is written after every step, and all that
is known is kept as `build/scale.json`, from which `--resume` takes the sizes that were measured to their end.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING

import click

from evidence.honest import PROJECT, committed, write_honest
from evidence.scale_ground import Ground, signs_s
from evidence.scale_measured import ADDED, AGAIN, ALL, COLD, ONE, Measured, seconds
from evidence.scale_report import Conditions, Report, markdown
from evidence.scale_run import revision, timing
from evidence.scale_site import site_size
from probe_effect import __version__
from probe_effect.host import ROOT
from probe_effect.host.load import load_average
from probe_effect.host.system import kernel_release
from probe_effect.host.this_machine import collect_machine
from probe_effect.model import ProbeEffectError
from probe_effect.store.kept import Kept
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from collections.abc import Sequence

RESULTS = Path(__file__).with_name("RESULTS.md")
KNOWN = PROJECT / "build" / "scale.json"
SIZES = "0,10,100,300,1000"

SINCE = datetime(2024, 12, 1, tzinfo=UTC)
"""When the first of the made submissions begins: a thousand of them end before the committed ones begin."""

PACKAGES = ("numpy", "hugo", "pagefind", "vl-convert-python")
"""What a build's time depends on, beside ourselves."""


@dataclass
class Benchmark:
    """The whole of it: what is known so far, the page that it is written to, and the folder that it works in."""

    report: Report
    out: Path
    folder: Path
    is_alone: bool
    step: str = ""
    """What is being done."""

    def measure(self, number: int) -> None:
        """Everything about one size. Raises: ProbeEffectError or OSError when a build or the data cannot be made."""
        ground = Ground(self.folder / f"size-{number}", self.is_alone)
        self.begin(f"{number} submissions: data")
        ground.prepare()
        write_honest(ground.data, number, SINCE)
        machines = {files.machine for files in ground.data.submissions()}
        one = Measured(submissions=number, machines=len(machines))
        self.report.add(one)
        self.build(ground, one, COLD)
        one.site = site_size(ground.places.out)
        self.build(ground, one, AGAIN)
        ground.publish()
        self.commands(ground, one, ground.published_commands())
        kept = Kept(ground.project / "build" / "signs")
        self.signs(ground, one, ALL, kept)
        added = write_honest(ground.data, number + 1, SINCE)[-1]
        self.signs(ground, one, ONE, kept)
        self.commands(ground, one, ground.added_commands(added))
        self.build(ground, one, ADDED)
        one.is_whole = not any(step.startswith(f"{number} ") for step in self.report.failed)
        self.save()

    def build(self, ground: Ground, one: Measured, name: str) -> None:
        """One of the builds. Raises: ProbeEffectError."""
        self.begin(f"{one.submissions} submissions: build, {name}")
        found = one.builds[name] = ground.build(name)
        say(f"  {seconds(found.whole.seconds)}, Hugo alone {seconds(found.hugo.seconds)}")
        self.save()

    def signs(self, ground: Ground, one: Measured, name: str, kept: Kept) -> None:
        """What the signs of forged data take."""
        self.begin(f"{one.submissions} submissions: signs of forged data, {name}")
        one.signs_s[name] = signs_s(ground.data, kept)
        say(f"  {seconds(one.signs_s[name])}")
        self.save()

    def commands(self, ground: Ground, one: Measured, commands: dict[str, list[str]]) -> None:
        """Each command, by its name on the page. One that fails is told, and does not cost the others."""
        for name, words in commands.items():
            self.begin(f"{one.submissions} submissions: {name}")
            try:
                found = one.commands[name] = timing(name, words, ground.data.root.parent)
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
        """Write the page as far as it is known, and all that it is made of."""
        self.out.write_text(markdown(self.report), encoding="utf-8")
        known = known_beside(self.out)
        known.parent.mkdir(exist_ok=True)
        known.write_text(self.report.model_dump_json(indent=1), encoding="utf-8")


def known_beside(out: Path) -> Path:
    """Where all is kept that the page `out` is made of: of the checkout's own page in its `build`."""
    return KNOWN if out == RESULTS else out.with_suffix(".json")


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


def empty_report(folder: Path, *, is_alone: bool) -> Report:
    """Nothing measured yet."""
    suites = Counter(one.document.run.suite for one in committed())
    beside = 0 if is_alone else len(DataFolder(PROJECT / "data").submissions())
    return Report(conditions=conditions(folder), beside=beside, suites=dict(suites.most_common()))


def known_report(out: Path, fresh: Report) -> Report:
    """What an earlier run measured to its end, under the conditions of `fresh`. Raises: click.UsageError."""
    path = known_beside(out)
    if not path.exists():
        return fresh
    known = Report.model_validate_json(path.read_text(encoding="utf-8"))
    same = ("kernel_release", "file_system", "versions")
    if any(getattr(known.conditions, name) != getattr(fresh.conditions, name) for name in same):
        msg = f"{path}: is of {known.conditions.versions}. Leave out --resume, and all sizes are measured again."
        raise click.UsageError(msg)
    return known.model_copy(update={"sizes": [one for one in known.sizes if one.is_whole], "failed": []})


def say(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)


def read_sizes(_: click.Context, __: click.Parameter, text: str) -> list[int]:
    """`10,100` as numbers, smallest first. Raises: click.BadParameter."""
    words = text.split(",")
    if not all(word.strip().isdecimal() for word in words):
        msg = f"{text}: expected numbers of submissions to make, such as {SIZES}"
        raise click.BadParameter(msg)
    return sorted({int(word) for word in words})


@click.command()
@click.option("--sizes", default=SIZES, show_default=True, callback=read_sizes, help="Numbers of submissions to make.")
@click.option("--resume", is_flag=True, help="Do not measure again what an earlier run measured to its end.")
@click.option("--alone", "is_alone", is_flag=True, help="Without the checkout's own data, but its suites, and guide.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=RESULTS, help="The page of results.")
@click.option("--keep", type=click.Path(path_type=Path), help="An empty folder to work in, which is kept.")
def main(*, sizes: list[int], resume: bool, is_alone: bool, out: Path, keep: Path | None) -> None:
    """Measure what a site of many submissions takes, and write the page of results."""
    if keep is not None and keep.exists() and any(keep.iterdir()):
        msg = f"{keep}: is not empty. Expected an empty folder, or none yet."
        raise click.BadParameter(msg)
    with tempfile.TemporaryDirectory(prefix="scale-") if keep is None else nullcontext(str(keep)) as folder:
        fresh = empty_report(Path(folder), is_alone=is_alone)
        report = known_report(out, fresh) if resume else fresh
        benchmark = Benchmark(report, out, Path(folder).resolve(), is_alone)
        measure_all(benchmark, sizes, is_kept=keep is not None)
    say(f"{out}: what was measured")
    sys.exit(1 if benchmark.report.failed else 0)


def measure_all(benchmark: Benchmark, sizes: Sequence[int], *, is_kept: bool) -> None:
    """Each size that is not known yet, as far as they can be measured."""
    known = {one.submissions for one in benchmark.report.sizes}
    try:
        for number in sizes:
            if number in known:
                continue
            benchmark.measure(number)
            if not is_kept:
                shutil.rmtree(benchmark.folder / f"size-{number}")
    except (ProbeEffectError, OSError) as error:
        benchmark.fail(error)


if __name__ == "__main__":
    main()
