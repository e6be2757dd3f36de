"""What `probe-effect try` does: make the runs, write each down at once, and print what they say."""

import json
import tempfile
import textwrap
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from probe_effect.cli import output
from probe_effect.cli.measure_display import progress, show_leftovers, time_left
from probe_effect.cli.tables import show_table
from probe_effect.compilers import cache_folder
from probe_effect.errors import ProbeEffectError
from probe_effect.host.mounts import mount_for_our_time
from probe_effect.measure.interrupt import Interrupted, interruptible
from probe_effect.measure.submission import hand_to_sudo_user
from probe_effect.store.places import DataFolder
from probe_effect.trial.result import TrialResult, predicted, trial_csv, trial_json, trial_spec
from probe_effect.trial.runs import CommandTrial, TrialRun, TrialSettings

WIDTH = 79
INTERRUPTED = 130
HEADS = ("CPU time", "wall time", "tracer's CPU", "events", "lost")


def run(settings: TrialSettings, data: DataFolder, output_format: str, plot: Path | None) -> int:
    """The exit status, after the result is printed. Raises: ProbeEffectError; what there is then is written down."""
    mount_for_our_time()
    settings.check()
    show_leftovers(progress)
    result, status = TrialResult(settings, way=""), 0
    journal = _journal(settings)
    try:
        with interruptible(), closing(CommandTrial(settings)) as trial:
            result.way = trial.tree.way
            _make(trial.warm_ups(), result, journal)
            for script in settings.scripts:
                trial.prepare()
                result.predicted[script.label] = predicted(script.text, settings.command, data)
            _make(trial.pairs(), result, journal)
    except Interrupted as error:
        output.say(f"{error}; this is what there is so far")
        status = INTERRUPTED
    except ProbeEffectError as error:
        output.say(f"the {len(result.runs)} runs before it are in {journal}")
        raise error from None
    finally:
        hand_to_sudo_user(journal.parent)
    if plot is not None:
        plot.write_text(json.dumps(trial_spec(result), indent=2) + "\n", encoding="utf-8")
    _show(result, journal, output_format)
    return status


def _make(runs: Iterable[TrialRun], result: TrialResult, journal: Path) -> None:
    """Take each run and write it down before the next; say at each pair how long it goes on."""
    settings, began_s, done = result.settings, time.monotonic(), 0
    for done, one in enumerate(runs, start=1):
        result.runs.append(one)
        with journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(one)) + "\n")
        kinds = len(settings.scripts) + 1
        if done % kinds == 0:
            left_s = (time.monotonic() - began_s) / done * (settings.pairs - one.pair) * kinds
            what = f"pair {one.pair} of {settings.pairs} made" if one.pair else "warmed up"
            output.say(what + time_left(left_s))


def _journal(settings: TrialSettings) -> Path:
    """A new file, which begins with what is tried and then has a line for each run."""
    try:
        parent = cache_folder() / "try"
    except RuntimeError:  # pathlib finds no home
        parent = Path(tempfile.gettempdir(), "probe-effect-try")
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=time.strftime("%Y-%m-%d-%H%M%S-"), dir=parent))
    (folder / "runs.jsonl").write_text(json.dumps(asdict(settings)) + "\n", encoding="utf-8")
    return folder / "runs.jsonl"


def _show(result: TrialResult, journal: Path, output_format: str) -> None:
    if output_format == "json":
        output.product_json(trial_json(result, journal))
    elif output_format == "csv":
        output.product(trial_csv(result))
    else:
        warnings = (f"Warning: {warning}" for warning in result.warnings())
        for sentence in (*result.sentences(), *warnings):
            output.product(textwrap.fill(sentence, WIDTH, subsequent_indent="  ", break_on_hyphens=False))
        show_table(("median",), HEADS, result.rows())
        output.product(f"CPU time is that of all processes, by {result.way}. Every run is in\n{journal}")
