"""What the page `/explore/` works with: its choices, and a file with the current costs of each machine.

Times and counted instructions never meet: a machine has one or the other.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from probe_effect.answer.prediction import MAX_RATE_HZ, MIN_RATE_HZ
from probe_effect.charts import theme
from probe_effect.charts.tracer_look import look
from probe_effect.compare.kernels import architecture_order
from probe_effect.compare.subjects import MeasuredMachine, offered
from probe_effect.exports.script_values import choice, number_values, script_json, short, view_citation
from probe_effect.model import level_order
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.once import grouped_by
from probe_effect.numbers.shown import reference_submission
from probe_effect.pages import addresses, comparison, explore_page, instructions, wording
from probe_effect.pages.fragments import first_suite_first
from probe_effect.store.tables import FORMULA_START

FORM = "explore.json"
ALL_SUITES = "all"


def explore_files(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> Iterator[tuple[str, str]]:
    """File name below `/data/` and its JSON: what the form offers, then the numbers of each machine."""
    yield FORM, script_json(_form(catalogue, machines))
    for one in machines:
        yield f"explore/{one.name}.json", script_json({"machine": one.name, "numbers": _numbers(one)})


def _form(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> dict[str, Any]:
    tracers = sorted({number.tracer for one in machines for number in one.numbers.values()})
    # Suites with the cases and levels that have a number, the first suite first.
    levels: dict[str, set[str]] = defaultdict(set)
    for key in (key for machine in machines for key in machine.numbers):
        levels[key.case].update([] if key.level is None else [key.level])
    suites = []
    for suite in (folder.suite for folder in first_suite_first(catalogue)):
        measured = [case.id for case in suite.cases if case.id in levels]
        cases = [[case, catalogue.titles[case], addresses.case(case)] for case in measured]
        known = sorted({level for case in measured for level in levels[case]}, key=level_order)
        suites.append({"id": suite.id, "title": suite.title, "levels": known, "cases": cases})
    return {
        "version": catalogue.version,
        "cite": view_citation("explore", catalogue.edition),
        "formula": FORMULA_START.pattern,
        "unclear": wording.UNCLEAR,
        "flag": instructions.FLAG,
        "limits": {"rate_hz": [MIN_RATE_HZ, MAX_RATE_HZ]},
        "suites": [suite for suite in suites if suite["cases"]],
        **choice(machines, catalogue),
        "tracers": tracers,
        "usual": _usual(catalogue, machines),
        "chart": {
            "schema": theme.SCHEMA,
            "config": theme.config(),
            "widths": theme.WIDTHS,
            "series": theme.SERIES,
            "looks": {tracer: (look(tracer).series, look(tracer).form) for tracer in tracers},
            "shapes": theme.SHAPES,
            "paper": theme.PAPER,
        },
    }


def _usual(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> dict[str, dict[str, str]]:
    """For times and for instructions the machine that each suite begins with, and all suites.

    It is the home page's, and the newest kernel of x86-64; of a suite that was not run there, the machine that was
    last.
    """
    reference = reference_submission(catalogue.numbers)
    known = offered(machines, catalogue)
    times = [one for one in known if one.metric == "time"]
    times.sort(key=lambda one: reference is not None and one.name != reference.machine)
    found: dict[str, dict[str, str]] = {"time": {}, "instructions": {}}
    counts = [one for one in reversed(known) if one.metric == "instructions"]
    counts.sort(key=lambda one: architecture_order(one.architecture))
    for one in (*times, *counts):
        for suite in (ALL_SUITES, *(number.submission.suite for number in one.numbers.values())):
            found[one.metric].setdefault(suite, one.name)
    return found


def _numbers(machine: MeasuredMachine) -> list[dict[str, Any]]:
    """The current costs of a machine, each with what a row of the table needs."""
    # Number's id to its place among the tracers that have its case and level there; counts have none.
    groups = grouped_by(machine.numbers.values(), lambda one: (one.case, one.level))
    places = {key: place for some in groups.values() for key, place in comparison.places(some).items()}
    return [
        number_values(one)
        | {
            "tracer": one.tracer,
            "tool": names.tool_with_version(one),
            "submission": one.submission.id,
            "floor": short(one.noise_floor_ns),
            "clear": one.distinguishable is True or not one.is_time,
            "sound": one.is_sound,
            "grade": one.grade,
            "place": places.get(one.id),
            "text": explore_page.flagged(one),
        }
        for one in machine.numbers.values()
    ]
