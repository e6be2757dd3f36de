"""What `probe-effect watch` and `try` do: looks at what traces now, and runs with a script and without."""

import contextlib
import json
import tempfile
import textwrap
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from probe_effect import units
from probe_effect.advising.calibrate import Calibrate
from probe_effect.advising.result import TrialResult, predicted, trial_csv, trial_json, trial_spec
from probe_effect.advising.runs import CommandTrial, TrialRun, TrialSettings
from probe_effect.advising.watched import TracingCost, Watched, probe_costs, total, watch_json
from probe_effect.cli import output
from probe_effect.cli.measure_display import show_leftovers, time_left
from probe_effect.cli.output import console, show_quota, show_table, table_of
from probe_effect.host import this_machine
from probe_effect.host.compilers import own_cache
from probe_effect.host.kernel import mount_for_our_time
from probe_effect.host.load import throttled_since, throttlings
from probe_effect.host.this_machine import quotas
from probe_effect.live.loaded import RunStatistics
from probe_effect.live.places import Place
from probe_effect.measure.one_run import Interrupted, interruptible
from probe_effect.measure.submission import hand_to_sudo_user
from probe_effect.model import INTERRUPTED, HostNotReady, ProbeEffectError
from probe_effect.numbers.shown import facts_of_machine
from probe_effect.store.places import DataFolder
from probe_effect.store.tables import printable

MOST_LETTERS = 44
MOST_ROWS = 25
"""The most expensive ones; JSON has all. A tracer may load a thousand programs."""

_percent = partial(units.interval, scale=units.SHARE)


def run(
    data: DataFolder,
    machine: str | None,
    calibrate: Calibrate | None,
    *,
    seconds: float,
    is_once: bool,
    output_format: str,
) -> None:
    """Look once, or again and again until Ctrl-C. Raises: HostNotReady, UsageError for an unknown machine."""
    mount_for_our_time()
    show_quota()
    with RunStatistics() as watch:  # before the data are read: who may not look need not wait
        costs = probe_costs(data, facts_of_machine(*this_machine.collect_named()), machine, calibrate)
        looks = costs.looks(watch, seconds)
        if output_format == "json":
            output.product_json(watch_json(next(looks), costs.machines, watch.own))
        elif is_once:
            console().print(_shown(next(looks), costs.machines))
        else:
            # On a terminal each look is in place of the one before, and in a pipe below it.
            own = console()
            wait = Text(f"watching for {seconds:g} s")
            live = Live(wait, console=own, auto_refresh=False) if own.is_terminal else None
            with contextlib.suppress(KeyboardInterrupt), live or contextlib.nullcontext():  # how one leaves it
                for watched in looks:
                    if live:
                        live.update(_shown(watched, costs.machines), refresh=True)
                    else:
                        own.print(_shown(watched, costs.machines), "")


def _shown(watched: Watched, machines: Sequence[str]) -> RenderableType:
    if not watched.costs:
        return Text(
            "Nothing traces here: no BPF program is loaded, ftrace is off, nobody holds perf events or ptraces."
        )
    labels = ("What", "Type", "Held by", "Attached to")
    values = ("Events", "Program", "Probe, each event", "Probe", "Together")
    table = table_of(labels, values, map(_row, watched.costs[:MOST_ROWS]), ["Remarks"])
    return Group(table, Text(""), *(Text(line) for line in summary(watched, machines)))


def summary(watched: Watched, machines: Sequence[str]) -> list[str]:
    """What all take together, and what the statistics see of it; `machines`: those whose costs may be taken."""
    costs, rest = watched.costs, watched.costs[MOST_ROWS:]
    unknown_ones = sum(cost.cpu_s_per_s is None for cost in costs)
    taken_from = list(dict.fromkeys(cost.machine for cost in costs if cost.machine))
    rest_cpu = _percent(total(cost.cpu_s_per_s for cost in rest))
    added = watched.statistics_s_per_s
    statistics = "The statistics had been switched on before, and stay on."
    if added is not None:
        statistics = f"The statistics themselves cost {units.percent(added)} of a CPU while this looks."
    why_none = "no measured machine may be compared with this one; name one with --machine"
    origin = f"No costs of probes: {'none is attached that was measured' if machines else why_none}."
    if taken_from:
        origin = f"Costs of probes are those of {', '.join(taken_from)}."
    return [
        *([f"Not shown: {len(rest)} more, which take {rest_cpu} of a CPU."] if rest else []),
        f"Together {_percent(watched.cpu_s_per_s)} of a CPU.",
        f"In programs, as the kernel's statistics see it: {units.percent(watched.program_s_per_s or 0.0)}.",
        f"In the probes themselves, which they cannot see: {_percent(watched.probe_s_per_s)}.",
        *([f"Not in it: {unknown_ones} of {len(costs)}, for the reason beside each."] if unknown_ones else []),
        statistics,
        origin,
    ]


def _row(cost: TracingCost) -> tuple[str, ...]:
    active, loaded = cost.active, cost.active.loaded
    # The first attach point, and how many more there are.
    attached = [_attach_point(probe_site) for probe_site in loaded.places[:1]]
    more = len(loaded.places) - len(attached) + loaded.others
    cells = (
        f"{loaded.name} #{loaded.id}" if loaded.id is not None else loaded.name,
        f"{loaded.sort} {loaded.kind}" if loaded.kind != loaded.sort else loaded.kind,
        ", ".join(f"{owner.comm} ({owner.pid})" for owner in loaded.owners) or units.MISSING,
        ", ".join([*attached, *([f"{more} more"] if more else [])]) or units.MISSING,
    )
    return (
        *(printable(cell, MOST_LETTERS - 1) for cell in cells),
        units.rate(active.events_hz),
        units.percent(active.program_s_per_s),
        units.interval(cost.probe, units.DURATION),
        units.percent(cost.probe_s_per_s.value if cost.probe_s_per_s else None),
        _percent(cost.cpu_s_per_s),
        cost.why or "",
    )


def _attach_point(probe_site: Place) -> str:
    if probe_site.offset is None or probe_site.path is None:
        return f"{probe_site.kind} {probe_site.name}" if probe_site.kind != probe_site.name else probe_site.name
    return f"{probe_site.kind} {probe_site.path.name}+{probe_site.offset:#x}"


def run_trial(settings: TrialSettings, data: DataFolder, output_format: str, plot: Path | None) -> int:
    """The exit status, after the result is printed. Raises: ProbeEffectError; what there is then is written down."""
    mount_for_our_time()
    show_quota()
    settings.check()
    show_leftovers()
    result, status = TrialResult(settings, way=""), 0
    journal, stops = _journal(settings), throttlings()
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
    after = quotas(stopped=throttled_since(stops, None))
    result.disturbed = tuple(
        str(warning) for warning in after if warning.id == "quota-stopped"
    )  # the quota itself was said before
    if plot is not None:
        plot.write_text(json.dumps(trial_spec(result), indent=2) + "\n", encoding="utf-8")
    _show(result, journal, output_format)
    return status


def _make(runs: Iterable[TrialRun], result: TrialResult, journal: Path) -> None:
    """Take each run and write it down before the next; say at each pair how long it goes on."""
    settings, began_s, done = result.settings, time.monotonic(), 0
    for done, trial_run in enumerate(runs, start=1):
        result.runs.append(trial_run)
        with journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(trial_run)) + "\n")
        kinds = len(settings.scripts) + 1
        if done % kinds == 0:
            left_s = (time.monotonic() - began_s) / done * (settings.pairs - trial_run.pair) * kinds
            what = f"pair {trial_run.pair} of {settings.pairs} made" if trial_run.pair else "warmed up"
            output.say(what + time_left(left_s))


def _journal(settings: TrialSettings) -> Path:
    try:
        parent, prefix = own_cache("try"), ""
    except HostNotReady:
        parent, prefix = None, "probe-effect-try-"
    folder = Path(tempfile.mkdtemp(prefix=prefix + time.strftime("%Y-%m-%d-%H%M%S-"), dir=parent))
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
            output.product(textwrap.fill(sentence, 79, subsequent_indent="  ", break_on_hyphens=False))
        show_table(("median",), ("CPU time", "wall time", "tracer's CPU", "events", "lost"), result.rows())
        output.product(f"CPU time is that of all processes, by {result.way}. Every run is in\n{journal}")
