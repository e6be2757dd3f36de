"""What `probe-effect lend` does: look, plan, measure suite by suite, check, and say how to send it."""

import getpass
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from probe_effect.cli import doctor_run, output
from probe_effect.cli.data_options import data_words
from probe_effect.cli.measure import measure
from probe_effect.cli.submissions import submit
from probe_effect.host import ROOT, typed
from probe_effect.host.kernel import mount_for_our_time
from probe_effect.host.system import throttles
from probe_effect.host.this_machine import warnings
from probe_effect.measure.one_run import Interrupted, TimeIsOver, interruptible, within
from probe_effect.measure.submission import cut_short, ids_of, read_unfinished
from probe_effect.measure.testbed import Testbed, quiet_machine
from probe_effect.model import HostNotReady, ProbeEffectError
from probe_effect.numbers.wanted import SuiteTurn, fitted
from probe_effect.store.places import DataFolder, submissions_in

TOLD = ("battery", "throttled")
"""What may begin while a suite is measured, and can be mended before the next."""

OVERTIME = 1.1
"""Of its time, when a suite that is not done yet is cut short: most of those that were fitted in end a little late."""

LEAST_PACE = 0.3
"""A suite that took less than this share of its planned time says nothing of how long the next takes."""


def run(
    data: DataFolder,
    results: Path,
    minutes: int,
    credit: Sequence[str],
    *,
    yes: bool,
    dry_run: bool,
    is_quiet: bool,
) -> None:
    """Lend this machine; `credit` has words for `measure`. Raises: HostNotReady, BadData, Interrupted."""
    mount_for_our_time()
    own = ids_of(Testbed())
    unfinished = (read_unfinished(place) for place in cut_short(results) if place.machine in own)
    begun = list(dict.fromkeys(one.document.run.suite for one in unfinished))
    turns = _turns(data, results, begun)
    doctor_run.show_look(data, aside=not dry_run)
    for suite in begun:
        output.say(f"cut short earlier, and continued first: {suite}")
    title = f"What it will measure in about {minutes} min, the most wanted first"
    doctor_run.show_turns(title, _chosen(turns, begun, minutes), aside=not dry_run)
    if dry_run:
        return
    asks = sys.stdin.isatty() and not yes
    if asks:
        click.confirm("Begin?", default=True, abort=True, err=True)
    before, places = _complete(results), ["--out", str(results), *data_words(data)]
    given_s = minutes * doctor_run.MINUTE_S
    with interruptible(), quiet_machine(output.say, is_wanted=is_quiet), within(OVERTIME * given_s):
        try:
            _measure(turns, begun, time.monotonic() + given_s, credit, places)
        except TimeIsOver as over:
            output.say(str(over))
    if not (made := [folder for folder in _complete(results) if folder not in before]):
        raise HostNotReady("nothing was measured to its end; the reasons are above")
    _propose([*made, *data_words(data)], asks=asks)


def _turns(data: DataFolder, results: Path, begun: Sequence[str]) -> list[SuiteTurn]:
    """The suites of this machine, without those that it has measured or begun. Raises: BadData.

    As a hosted runner it has measured what is in `results`: another run of its kind had another host.
    """
    (machine, runner), catalogue = ids_of(Testbed()), doctor_run.known_numbers(data, results)
    hosted = {one.id for one in submissions_in(results) if one.machine == runner}
    done = {one.suite for one in catalogue.timed if one.machine == machine or one.id in hosted} | {*begun}
    return [one for one in doctor_run.turns_here(catalogue, doctor_run.works_here(data)) if one.suite not in done]


def _chosen(turns: Sequence[SuiteTurn], begun: Sequence[str], minutes: int) -> list[SuiteTurn]:
    chosen = fitted(turns, minutes * doctor_run.MINUTE_S)
    if chosen or begun:
        return chosen
    if not turns:
        msg = f"no suite can run here, or this machine has measured all that can; {typed('doctor')} says which"
        raise HostNotReady(msg)
    least = min(turns, key=lambda one: one.quick_s)
    needs = f"the shortest plan, of {least.suite}, takes {least.quick_s / doctor_run.MINUTE_S:.1f} min"
    raise HostNotReady(f"nothing fits into {minutes} min: {needs}")


def _measure(
    turns: Sequence[SuiteTurn], begun: Sequence[str], end_s: float, credit: Sequence[str], places: Sequence[str]
) -> None:
    """Continue what was begun, then suite after suite; after each, what is left is fitted into the time again."""
    for suite in begun:
        _try([suite, "--resume", *places], places)
    pace, planned_s, taken_s = 1.0, 0.0, 0.0
    while chosen := fitted(turns, (end_s - time.monotonic()) / pace):
        turn, start_s, hot = chosen[0], time.monotonic(), throttles(ROOT)
        turns = [one for one in turns if one.suite != turn.suite]
        able = (name for name, tracer in doctor_run.tracers_here().items() if tracer.available() is None)
        words = [turn.suite, *(word for name in able for word in ("--tracer", name))]
        words += [*(["--quick"] if turn.is_quick else []), "--blocks", str(turn.blocks)]
        if _try([*words, *credit, *places], places):
            planned_s, taken_s = planned_s + turn.takes_s, taken_s + time.monotonic() - start_s
            pace = max(taken_s / planned_s, LEAST_PACE)
        for warning in warnings(throttles=throttles(ROOT) - hot):
            if warning.id in TOLD:
                output.say(f"{turn.suite}: {warning.found}; {warning.advice}")


def _try(words: Sequence[str], places: Sequence[str]) -> bool:
    try:
        measure.main(list(words), standalone_mode=False)
    except Interrupted as stop:
        raise type(stop)(f"{stop}\nor all of it: {typed('lend', *places)}") from stop
    except ProbeEffectError as error:
        output.say(f"not measured: {words[0]}: {error}")
        return False
    return True


def _complete(results: Path) -> list[str]:
    places = submissions_in(results)
    return [str(one.folder) for one in places if one.machine_file.is_file() and not one.plan_file.exists()]


def _propose(words: Sequence[str], *, asks: bool) -> None:
    try:
        submit.main([*words, "--dry-run"], standalone_mode=False)
    except HostNotReady as error:  # root's git may not know a name, which who submits has
        output.say(f"as {getpass.getuser()} it cannot be submitted: {error}")
        asks = False
    if asks and click.confirm("Propose it for publication now?", default=False, err=True):
        submit.main([*words, "--yes"], standalone_mode=False)
    else:
        output.say(f"to publish it: {typed('submit', *words)}")
