"""What `probe-effect lab` does: measure a few cases of a suite, and tell them beside what others printed."""

import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap

from probe_effect import units
from probe_effect.cli import output
from probe_effect.cli.measure_display import display, progress, show_leftovers, show_skipped
from probe_effect.cli.measure_settings import Laboratory
from probe_effect.errors import BadData
from probe_effect.host.kernel import mount_for_our_time
from probe_effect.measure.bench import Settings
from probe_effect.measure.calibrate import QUICK
from probe_effect.measure.interrupt import Interrupted, interruptible
from probe_effect.measure.request import choose_suites, choose_tracers, resolve
from probe_effect.measure.run import measure as measure_suite
from probe_effect.measure.submission import hand_to_sudo_user
from probe_effect.measure.testbed import Testbed
from probe_effect.model import Problem
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import read_published
from probe_effect.numbers.published import with_unit
from probe_effect.pages import wording
from probe_effect.reduce.reading import read_submissions
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.places import DataFolder
from probe_effect.store.suite_file import Suite
from probe_effect.tracers.tool import known_tracers

COLUMNS = 88


def run(data: DataFolder, laboratory: Laboratory, blocks: int, seed: int | None, out: Path | None) -> None:
    """Measure and tell. Raises: HostNotReady where a tool or root is missing, UsageError, BadData."""
    mount_for_our_time()
    ((folder, suite),) = choose_suites(data, [laboratory.suite])
    ready = choose_tracers(known_tracers(), laboratory.tracers)
    work = resolve(folder, suite, ready, laboratory.cases)
    show_leftovers()
    show_skipped(work)
    with TemporaryDirectory(prefix="probe-effect-lab-") as passing:
        settings = _settings(laboratory, out or Path(passing), blocks, secrets.randbits(32) if seed is None else seed)
        try:
            with display(progress) as tell, interruptible():
                place = measure_suite(work, settings, Testbed(), tell)
        except Interrupted as stop:
            if out is not None:
                raise
            raise Interrupted("stopped; no rows are kept without --out") from stop
        problems: list[Problem] = []
        submissions = read_submissions([place], data, problems)
        if problems:
            raise BadData(problems)
        for line in _report(data, laboratory, suite, submissions[0]):
            output.product(line)
        if out is not None:
            hand_to_sudo_user(place.folder)
            output.product(f"\nThe rows are in {place.folder}")


def _settings(laboratory: Laboratory, results: Path, blocks: int, seed: int) -> Settings:
    """The settings of a laboratory, whose submission records the `measure` command that does the same."""
    words = ["probe-effect", "measure", laboratory.suite]
    words += [word for name in laboratory.tracers for word in ("--tracer", name)]
    words += [word for case in laboratory.cases for word in ("--case", case)]
    words += ["--quick", "--blocks", str(blocks), "--seed", str(seed)]
    return Settings(results=results, blocks=blocks, seed=seed, command=tuple(words), lengths=QUICK)


def _report(data: DataFolder, laboratory: Laboratory, suite: Suite, submission: Submission) -> Iterator[str]:
    untraced = units.duration(submission.baseline.value if submission.baseline else None)
    where = names.machine_name(submission)
    yield from (*wrap(laboratory.question, COLUMNS), "")
    yield from wrap(f"Measured on {where}. Untraced, {untraced}: {suite.workload.operation}.", COLUMNS)
    titles = {case.id: case.title for case in suite.cases}
    for one in submission.numbers:
        yield f"\n{titles.get(one.case, one.case)}"
        yield from _wrapped(f"  here: {_said(one)}")
        for line in _printed(data, laboratory.printed.get(one.case, ())):
            yield from _wrapped(f"  then: {line}")
    yield "\nTo try next"
    for sentence, command in laboratory.next:
        yield from (f"  {sentence}:", f"    {command}")


def _wrapped(text: str) -> list[str]:
    """The text in lines that any terminal has room for, a value and its unit on one."""
    return wrap(text, COLUMNS, subsequent_indent="        ", break_long_words=False, break_on_hyphens=False)


def _said(one: Number) -> str:
    """What was measured, in words."""
    if one.cost is None:
        return f"{one.status}: {one.note}"
    if not one.is_clear:
        return f"{names.tool_with_version(one)}: {wording.cost(one)}"
    rates = ", ".join(
        f"{percent} % at {units.rate(rate.value)}" for percent in (1, 5, 30) if (rate := one.threshold(percent))
    )
    costs = f"{names.tool_with_version(one)}: each event costs {wording.cost(one)}"
    return f"{costs}; a busy thread is slowed by {rates}" if rates else costs


def _printed(data: DataFolder, keys: Sequence[str]) -> Iterator[str]:
    """What others printed, with who, when and on what; nothing of a source that these data have not."""
    for key in keys:
        name, _, figure_id = key.partition(".")
        problems: list[Problem] = []
        folders = [folder for folder in data.sources() if folder.name == name]
        for source in filter(None, (read_published(folder, data, problems) for folder in folders)):
            for figure in source.figures:
                if figure.figure == figure_id:
                    by = wording.source_label(source.document)
                    ours = "" if figure.printed else "; worked out here from what they printed"
                    yield f"{with_unit(float(figure.value), figure.unit)}: {figure.what} ({by}{ours})"
