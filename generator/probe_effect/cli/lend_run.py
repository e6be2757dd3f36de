"""What `probe-effect lend` does: look, plan, measure suite by suite, check, and say how to send it."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import credited, data_words
from probe_effect.cli.lend_look import show_look
from probe_effect.cli.lend_plan import known_numbers, tracers_here, turns_here, works_here
from probe_effect.cli.measure_run import run as measure
from probe_effect.cli.measure_settings import MeasureOptions
from probe_effect.cli.submit_run import SubmitOptions
from probe_effect.cli.submit_run import run as submit
from probe_effect.cli.wanted_run import MINUTE_S, show_turns
from probe_effect.emulated.architecture import DEFAULT
from probe_effect.errors import HostNotReady, ProbeEffectError
from probe_effect.host import typed
from probe_effect.host.mounts import mount_for_our_time
from probe_effect.machine import collect
from probe_effect.measure.interrupt import Interrupted, interruptible
from probe_effect.measure.quiet import put_back, quiet_machine
from probe_effect.measure.resume import cut_short, read_unfinished
from probe_effect.measure.submission import Author
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.wanted.order import Turn, fitted


class LendOptions(TypedDict):
    """How the machine is lent, as the command line has it."""

    minutes: int
    yes: bool
    dry_run: bool
    quiet_machine: bool
    restore: bool
    name: str | None
    url: str | None
    author: Author


def run(data: DataFolder, results: Path, options: LendOptions) -> None:
    """Lend this machine. Raises: HostNotReady where nothing fits or runs; BadData; Interrupted, with all rows kept."""
    for words in put_back():
        output.say(words)
    if options["restore"]:
        return
    credited(options["name"], options["url"])
    mount_for_our_time()
    begun = _begun(results)
    turns = _turns(data, results, begun)
    show_look(data, aside=not options["dry_run"])
    _show_plan(turns, begun, options)
    if options["dry_run"]:
        return
    is_asked = sys.stdin.isatty() and not options["yes"]
    if is_asked:
        click.confirm("Begin?", default=True, abort=True, err=True)
    before = _complete(results)
    with interruptible(), quiet_machine(output.say, is_asked_for=options["quiet_machine"]):
        _measure(data, results, turns, begun, options)
    if not (made := [folder for folder in _complete(results) if folder not in before]):
        msg = "nothing was measured to its end; the reasons are above"
        raise HostNotReady(msg)
    _propose(made, data, is_asked=is_asked)


def _turns(data: DataFolder, results: Path, begun: Sequence[str]) -> list[Turn]:
    """The suites of this machine, without those that it has measured already. Raises: BadData."""
    machine, catalogue = collect.collect_machine().id, known_numbers(data, results)
    done = {one.suite for one in catalogue.timed if one.machine == machine} | {*begun}
    return [one for one in turns_here(catalogue, works_here(data)) if one.suite not in done]


def _begun(results: Path) -> list[str]:
    """The suites that were cut short here."""
    machine = collect.collect_machine().id
    own = (read_unfinished(place) for place in cut_short(results) if place.machine == machine)
    return list(dict.fromkeys(one.document.run.suite for one in own))


def _show_plan(turns: Sequence[Turn], begun: Sequence[str], options: LendOptions) -> None:
    """What will be measured. Raises: HostNotReady where nothing fits."""
    aside, minutes = not options["dry_run"], options["minutes"]
    for suite in begun:
        output.say(f"cut short earlier, and continued first: {suite}")
    chosen = fitted(turns, minutes * MINUTE_S)
    show_turns(f"What it will measure in about {minutes} min, the most wanted first", chosen, aside=aside)
    if not chosen and not begun:
        least = min((one.quick_s for one in turns), default=None)
        need = (
            f"the shortest plan takes about {round(least / MINUTE_S) + 1} min" if least else "no suite is left to run"
        )
        msg = f"nothing fits into {minutes} min: {need}"
        raise HostNotReady(msg)


def _measure(data: DataFolder, results: Path, turns: list[Turn], begun: Sequence[str], options: LendOptions) -> None:
    """Continue what was begun, then suite after suite; after each, what is left is fitted into the time again."""
    end_s = time.monotonic() + options["minutes"] * MINUTE_S
    for suite in begun:
        _try(data, results, _options([suite], options, resume=True))
    planned_s = taken_s = 0.0
    while True:
        pace = max(taken_s / planned_s, 1 / 3) if planned_s else 1.0
        chosen = fitted(turns, (end_s - time.monotonic()) / pace)
        if not chosen:
            return
        turn, start_s = chosen[0], time.monotonic()
        turns = [one for one in turns if one.suite != turn.suite]
        if _try(data, results, _options([turn.suite], options, turn=turn)):
            planned_s, taken_s = planned_s + turn.takes_s, taken_s + time.monotonic() - start_s


def _try(data: DataFolder, results: Path, options: MeasureOptions) -> bool:
    """Whether it was measured; else why not is said, and the next suite may do better. Raises: Interrupted."""
    try:
        measure(data, results, options)
    except Interrupted as stop:
        msg = f"{stop}\nor: {typed('lend', '--out', results.resolve(), *data_words(data))}"
        raise Interrupted(msg) from stop
    except ProbeEffectError as error:
        output.say(f"not measured: {', '.join(options['suites'])}: {error}")
        return False
    return True


def _options(
    suites: Sequence[str], options: LendOptions, *, turn: Turn | None = None, resume: bool = False
) -> MeasureOptions:
    able = [name for name, tracer in tracers_here().items() if tracer.available() is None]
    return {
        "suites": suites,
        "tracers": [] if resume else able,
        "cases": (),
        "blocks": turn.blocks if turn else None,
        "quick": turn is not None and turn.is_quick,
        "seed": None,
        "resume": resume,
        "dry_run": False,
        "source": None,
        "vm": None,
        "architecture": DEFAULT.debian,
        "accelerator": "tcg",
        "name": options["name"],
        "url": options["url"],
        "author": options["author"],
        "fleet_name": None,
        "calibrate": True,
    }


def _complete(results: Path) -> list[Path]:
    """The folders of the complete submissions."""
    return [path for path in sorted(results.glob("*/*")) if _is_complete(SubmissionFolder(path))]


def _is_complete(one: SubmissionFolder) -> bool:
    return one.machine_file.is_file() and not one.plan_file.exists()


def _propose(made: Sequence[Path], data: DataFolder, *, is_asked: bool) -> None:
    """Check, show what it tells of the machine, and say how to send it, or send it. Raises: BadData."""
    how: SubmitOptions = {
        "name": None,
        "nameless": False,
        "remote": None,
        "here": False,
        "dry_run": True,
        "yes": True,
        "allowed": (),
    }
    submit(made, data, how)
    if is_asked and click.confirm("Propose it for publication now?", default=False, err=True):
        submit(made, data, {**how, "dry_run": False})
    else:
        output.say(f"to publish it: {typed('submit', *made, *data_words(data))}")
