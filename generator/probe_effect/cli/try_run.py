"""What `probe-effect try` does: make the runs, keep each at once, and print the result, or what there is of it."""

from __future__ import annotations

import json
import os
import tempfile
import textwrap
import time
from contextlib import contextmanager
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rich.live import Live
from rich.text import Text

from probe_effect.cli import output
from probe_effect.cli.measure_display import progress, time_left
from probe_effect.cli.tables import show_table
from probe_effect.compilers import cache_folder
from probe_effect.errors import ProbeEffectError, UsageError
from probe_effect.host.mounts import mount_for_our_time
from probe_effect.measure.interrupt import Interrupted, interruptible
from probe_effect.measure.submission import hand_to_sudo_user
from probe_effect.store.kept import Kept
from probe_effect.trial import words
from probe_effect.trial.effect import TrialResult
from probe_effect.trial.plot import trial_chart
from probe_effect.trial.predicted import predicted
from probe_effect.trial.result_json import run_json, trial_csv, trial_json
from probe_effect.trial.runs import CommandTrial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from probe_effect.store.places import DataFolder
    from probe_effect.trial.runs import TrialRun, TrialSettings

WIDTH = 79
INTERRUPTED = 130
HEADS = ("CPU time", "wall time", "tracer's CPU", "events", "lost")


def run(settings: TrialSettings, data: DataFolder, output_format: str, picture: Path | None) -> int:
    """The exit status, after the result is printed. Raises: ProbeEffectError, after what there is so far is kept."""
    _check_picture(picture)
    mount_for_our_time()
    settings.check()
    journal, result, status = _journal(settings), TrialResult(settings), 0
    try:
        with interruptible():
            _make(result, data, journal)
    except Interrupted as error:
        output.say(f"{error} after {len(result.timed)} timed runs")
        status = INTERRUPTED
    except ProbeEffectError as error:
        kept = f"{error}\n{len(result.runs)} runs are kept in {journal}" if result.runs else str(error)
        raise type(error)(kept) from error
    finally:
        hand_to_sudo_user(journal.parent)
    _show(result, journal, output_format)
    if picture is not None and result.timed:
        _draw(result, picture)
    return status


def _make(result: TrialResult, data: DataFolder, journal: Path) -> None:
    settings = result.settings
    with CommandTrial(settings) as trial, _shown(result) as show:
        result.way = trial.way
        _keep(trial.warm_ups(), result, journal, show)
        for script in settings.scripts:
            show(f"asking advise about {script.label}")
            trial.prepare()
            result.predicted[script.label] = predicted(script.text, settings.command, data)
        _keep(trial.pairs(), result, journal, show)


def _keep(runs: Iterable[TrialRun], result: TrialResult, journal: Path, show: Callable[[str], None]) -> None:
    """Take each run, and write it down before the next."""
    for one in runs:
        result.runs.append(one)
        with journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps(run_json(one)) + "\n")
        show(f"pair {one.pair} of {result.settings.pairs}" if one.pair else "warm-up")


def _journal(settings: TrialSettings) -> Path:
    """A new file, which begins with what is tried; it has a line for each run then."""
    try:
        parent = cache_folder()
    except RuntimeError:  # pathlib finds no home
        parent = Path(tempfile.gettempdir())
    folder = parent / "try" / f"{datetime.now():%Y-%m-%d-%H%M%S}-{os.getpid()}"  # noqa: DTZ005 (the user's own clock)
    folder.mkdir(parents=True)
    head = {"command": settings.command, "scripts": [one.text for one in settings.scripts], "seed": settings.seed}
    (folder / "runs.jsonl").write_text(json.dumps(head) + "\n", encoding="utf-8")
    return folder / "runs.jsonl"


@contextmanager
def _shown(result: TrialResult) -> Iterator[Callable[[str], None]]:
    """A function that says what goes on and how long it takes yet: in place on a terminal, else when that changes."""
    began_s, settings = time.monotonic(), result.settings
    total = (settings.pairs + 1) * (len(settings.scripts) + 1)
    last = ""
    with Live(console=progress, auto_refresh=False, transient=True) as live:

        def show(what: str) -> None:
            nonlocal last
            done = len(result.runs)
            line = what + time_left((time.monotonic() - began_s) / done * (total - done) if done else None)
            if progress.is_terminal:
                live.update(Text(line), refresh=True)
            elif what != last:
                output.say(line)
            last = what

        show("warm-up")
        yield show


def _show(result: TrialResult, journal: Path, output_format: str) -> None:
    if output_format == "json":
        output.product_json(trial_json(result, journal))
    elif output_format == "csv":
        output.product(trial_csv(result).rstrip())
    else:
        for sentence in words.sentences(result):
            output.product(textwrap.fill(sentence, WIDTH, subsequent_indent="  ", break_on_hyphens=False))
        output.product("")
        show_table(("median of",), HEADS, words.rows(result))
        output.product("")
        for warning in result.warnings():
            output.product(textwrap.fill(f"Warning: {warning}", WIDTH, subsequent_indent="  "))
        output.product(f"CPU time is that of all processes, by {result.way}. Every run is in\n{journal}")


def _check_picture(path: Path | None) -> None:
    """Raise UsageError, before anything is run, for a picture that could not be made."""
    if path is None:
        return
    if path.suffix not in {".svg", ".json"} or not path.absolute().parent.is_dir():
        msg = f"--output {path}: expected a file .svg or .json in a folder that is there"
        raise UsageError(msg)
    if path.suffix == ".svg" and find_spec("vl_convert") is None:
        msg = f"--output {path}: no vl-convert, which draws; give a file .json for the Vega-Lite spec"
        raise UsageError(msg)


def _draw(result: TrialResult, path: Path) -> None:
    chart = trial_chart(result)
    if path.suffix == ".json":
        text = json.dumps(chart.specs["wide"], indent=2)
    else:
        from probe_effect.charts.draw import draw_svg

        text = draw_svg(chart, "wide", Kept())
    path.write_text(text + "\n", encoding="utf-8")
