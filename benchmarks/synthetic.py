"""A data folder of any size for benchmarks: machines that nobody has, with times made of real ones.

Usage: .venv/bin/python -m benchmarks.synthetic NUMBER FOLDER (`benchmarks.scale` uses it too).

The rows are those of three committed submissions in turn, every time in them multiplied by a factor of the machine's
own and a little noise of the row's own. Suites and published sources are those of the checkout. The same number and
seed give the same bytes, and the first submissions of a large folder are those of a small one. Nothing made here is a
measurement: it never goes below `data/`.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
from benchmarks.synthetic_machines import LAST_DAY, SPAN_DAYS, machines

from probe_effect.errors import BadData, UsageError
from probe_effect.store.machine_file import MachineFile, Provenance, Submitter, read_machine_file
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.samples import SAMPLE_COLUMNS, read_samples
from probe_effect.store.tables import csv_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from benchmarks.synthetic_machines import MadeMachine

PROJECT = Path(__file__).resolve().parent.parent
SEED = 20261122

TEMPLATES = tuple(f"amd-epyc-2t-kvm-d4f3/2026-11-20-{name}" for name in ("per-event", "per-event-3", "per-event-4"))
"""Committed submissions of `per-event`, taken in turn: 44, 16 and 22 cases with a cost, 27 in the middle."""

PARTS = ("suites", "published")
"""What is taken from the checkout as it is."""

NOISE_SIGMA = 0.005
"""Of the natural logarithm of a row's own factor; the same for all times of the row."""

OF_ROWS = 1
"""Beside the seed, as `OF_MACHINES`."""

TOOL = "benchmarks/synthetic.py"
"""Says in each `machine.json` that nobody measured this."""

NAMES = tuple(column.name for column in SAMPLE_COLUMNS)
TIMES = frozenset(place for place, name in enumerate(NAMES) if name.endswith("_ns"))


@dataclass(frozen=True, slots=True)
class Template:
    """A committed submission: what its machine was, and the cells of its rows."""

    document: MachineFile
    rows: tuple[tuple[int | str | None, ...], ...]
    numbers: int
    """Cases that were measured, with their tracers and levels: so many numbers does a submission have."""


@cache
def templates() -> tuple[Template, ...]:
    """The submissions of `TEMPLATES`. Raises: BadData when they are not as they were committed."""
    return tuple(_template(SubmissionFolder(PROJECT / "data" / "results" / name)) for name in TEMPLATES)


def _template(files: SubmissionFolder) -> Template:
    document, problems = read_machine_file(files.machine_file, f"{files.id}/machine.json")
    samples, more = read_samples(files.samples, f"{files.id}/samples.csv")
    if document is None or problems or more:
        raise BadData([*problems, *more])
    rows = tuple(tuple(getattr(sample, name) for name in NAMES) for sample in samples)
    measured = {(one.case, one.tracer, one.level) for one in samples if (one.arm, one.status) == ("traced", "ok")}
    return Template(document, rows, len(measured))


@dataclass(frozen=True, slots=True)
class Made:
    """A submission that is to be written: the `number`th from 0, of a machine on a day."""

    number: int
    machine: MadeMachine
    day: date
    seed: int

    @property
    def template(self) -> Template:
        """Whose rows it has."""
        return templates()[self.number % len(TEMPLATES)]

    def place(self, data: DataFolder) -> SubmissionFolder:
        """Where it lies."""
        name = f"{self.day.isoformat()}-{self.template.document.run.suite}"
        return SubmissionFolder(data.results / self.machine.machine.id / name)

    def write(self, files: SubmissionFolder) -> None:
        """Its files, `machine.json` last: where that is, the submission is whole."""
        files.folder.mkdir(parents=True, exist_ok=True)
        with files.samples.open("w", encoding="utf-8", newline="") as file:
            file.write(csv_line(NAMES))
            file.writelines(map(csv_line, self.rows()))
        files.machine_file.write_text(self.document().model_dump_json(indent=2) + "\n", encoding="utf-8")

    def rows(self) -> Iterator[list[int | str | None]]:
        """The rows of the template at this machine's speed, each with noise of its own."""
        rows = self.template.rows
        noise = np.random.default_rng([self.seed, OF_ROWS, self.number]).lognormal(0, NOISE_SIGMA, len(rows))
        for row, factor in zip(rows, (self.machine.speed * noise).tolist(), strict=True):
            yield [
                round(cell * factor) if place in TIMES and isinstance(cell, int) else cell
                for place, cell in enumerate(row)
            ]

    def document(self) -> MachineFile:
        """Its `machine.json`."""
        like, made = self.template.document, self.machine
        is_guest, is_nested = made.hardware.virtualization is not None, made.hardware.is_nested
        moments = {name: f"{self.day.isoformat()}{getattr(like.run, name)[10:]}" for name in ("started", "ended")}
        run = {
            **moments,
            "workload_cpu": made.hardware.threads - 1,
            "seed": self.number,
            "command": (*like.run.command[:-1], str(self.number)),
            "functions": like.run.functions if made.machine.architecture == like.machine.architecture else {},
            "steal_ratio": like.run.steal_ratio if is_guest else None,
            "warnings": tuple(word for word in like.run.warnings if is_nested or word != "nested"),
        }
        changes = {
            "machine": made.machine,
            "system": made.system(like.system),
            "tools": {
                tracer: f"Linux {made.kernel_release}" if version.startswith("Linux ") else version
                for tracer, version in like.tools.items()
            },
            "run": like.run.model_copy(update=run),
            "submitter": Submitter(name=None, url=None),
            "provenance": Provenance(tool=TOOL, kind="third-party"),
        }
        return like.model_copy(update=changes)


def submissions(seed: int = SEED) -> Iterator[Made]:
    """Submissions without end; those of a machine stand together, oldest first."""
    numbers = count()
    for machine in machines(seed):
        for day in machine.days:
            yield Made(next(numbers), machine, day, seed)


def write_data(root: Path, number: int, seed: int = SEED) -> list[Path]:
    """A data folder of `number` submissions at `root`, and their folders in the order made.

    What is there already stays as it is, so that one more is added by asking for one more.
    Raises: UsageError for a folder of the checkout's own data.
    """
    own = (PROJECT / "data").resolve()
    if own in (root.resolve(), *root.resolve().parents):
        msg = f"{root}: is in the checkout's own data, where only measured results belong. Name a folder elsewhere."
        raise UsageError(msg)
    _write_ground(root)
    data = DataFolder(root)
    folders = []
    for made in islice(submissions(seed), number):
        files = made.place(data)
        if not files.machine_file.exists():
            made.write(files)
        folders.append(files.folder)
    return folders


def _write_ground(root: Path) -> None:
    """Suites and sources of the checkout, and a change log that names these sources and nothing measured."""
    for part in PARTS:
        if not (root / part).is_dir():
            shutil.copytree(PROJECT / "data" / part, root / part)
    sources = json.dumps([folder.name for folder in DataFolder(root).sources()])
    day = (LAST_DAY - timedelta(days=SPAN_DAYS)).isoformat()
    added = f'[[changes]]\ndate = "{day}"\nkind = "added"\nwhat = {sources}\nwhy = "They stand in the checkout."\n'
    (root / "changes.toml").write_text(f"schema_version = 1\n\n{added}", encoding="utf-8")


def numbers(number: int) -> int:
    """How many numbers `number` submissions have: cases that were measured, with their tracers and levels."""
    return sum(templates()[place % len(TEMPLATES)].numbers for place in range(number))


@click.command()
@click.argument("number", type=click.IntRange(1))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--seed", default=SEED, show_default=True, help="Of machines, days and noise.")
def main(*, number: int, folder: Path, seed: int) -> None:
    """Make a data folder of NUMBER submissions at FOLDER, or add to one that was made before."""
    try:
        made = write_data(folder, number, seed)
    except UsageError as error:
        raise click.UsageError(str(error)) from error
    machines_made = len({place.parent for place in made})
    print(f"{folder}: {len(made)} submissions of {machines_made} machines, {numbers(number)} numbers")


if __name__ == "__main__":
    main()
