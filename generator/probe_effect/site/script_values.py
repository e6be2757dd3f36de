"""What scripts of pages get of numbers and machines, as small as it can be: `/compare/`, `/explore/` and its matrices.

A subject is one machine with one tracer. Two of different machines share no block, so the page works their difference
out itself (`site/assets/js/comparison.js`, the port of `compare.comparison`). Two of one machine often do, and then
the interval of the difference takes the raw rows, which only this side has: it is made here.

A table is of one tracer, and a cell is one number. Times and counts never share a table, nor do two architectures.
"""

import json
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, pairwise
from typing import Any, Literal

from probe_effect import units
from probe_effect.answer.prediction import MAX_RATE_HZ, MIN_RATE_HZ
from probe_effect.compare.compared import traits
from probe_effect.compare.comparison import between_tracers, faults
from probe_effect.compare.kernels import architecture_order
from probe_effect.compare.subjects import MeasuredMachine, offered
from probe_effect.costs.evidence import Evidence, evidence
from probe_effect.costs.row import calls_of_event, event_cost
from probe_effect.model import Estimate, Metric, level_order
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import for_next_run, grouped_by
from probe_effect.numbers.names import Edition, Subject, cite, tier
from probe_effect.numbers.shown import in_order, reference_submission
from probe_effect.numbers.submission import Number, Submission
from probe_effect.site.charts import theme
from probe_effect.site.charts.dots import INSTRUCTIONS, NANOSECONDS
from probe_effect.site.pages import addresses, comparison, instructions, ladder_page, parts
from probe_effect.site.pages.fragments import first_suite_first
from probe_effect.site.pages.results.cost import COUNTED
from probe_effect.site.pages.results.cost import VIEW as COST
from probe_effect.store.kept import NOWHERE, code_version
from probe_effect.store.machine_file import is_hosted
from probe_effect.store.suite_file import Case
from probe_effect.store.tables import FORMULA_START

Values = dict[str, Any]  # an object of JSON
DIGITS = 7  # the digits of each number: more than any interval supports, so that it is written as on every other page
CITED_TITLE, CITED_ADDRESS = "@title@", "@address@"  # the places that the page fills in a citation of the reader's view


def script_json(found: object) -> str:
    return json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def kept_of_machine(
    what: str, catalogue: Catalogue, runs: Sequence[Submission], make: Callable[[], Any], *others: str
) -> Any:  # noqa: ANN401 (JSON)
    """What `make` makes of runs of one machine and `others`, as JSON has it; kept while these, suites and code stay."""
    made_from = [*(f"{one.id} {one.digest}" for one in runs), *others]
    code = f"{parts.page_code()} {code_version('costs', 'answer', 'scripts', 'site')}"
    kept = catalogue.kept if all(one.digest for one in runs) else NOWHERE
    return json.loads(kept.made(lambda: script_json(make()).encode(), what, code, catalogue.suites_digest, *made_from))


def ends(found: Estimate | None, digits: int = DIGITS) -> list[float | None] | None:
    return None if found is None else [short(end, digits) for end in found]


def short(value: float | None, digits: int = DIGITS) -> float | None:
    return None if value is None else float(f"{value:.{digits}g}")


def number_values(one: Number) -> Values:
    return {
        "case": one.case,
        "level": one.level,
        "cost": ends(one.cost),
        "href": addresses.number(one, "cost" if one.is_time else "instructions"),
    }


def machine_values(one: MeasuredMachine) -> Values:
    newest = one.submissions[0]
    return {
        "id": one.name,
        "metric": one.metric,
        "label": one.label,
        "tier": tier(newest.document.machine, one.metric),
        "href": addresses.machine_of(newest),
        "tracers": list(one.tools.items()),
    }


def choice(machines: Sequence[MeasuredMachine], catalogue: Catalogue) -> Values:
    return {"machines": [machine_values(one) for one in offered(machines, catalogue)], "all": len(machines)}


def view_citation(path: Literal["explore", "compare"], edition: Edition) -> dict[str, str]:
    """A citation of one view of a page, with places for its title and its whole address."""
    made = cite(Subject(path, CITED_TITLE, CITED_ADDRESS), Edition(edition.version, ""))
    return {"text": made.text, "bibtex": made.bibtex}


def guidance_files(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """File name below `/data/` and its JSON: what an event costs on a machine, with the ends for its next run."""
    known, runs = evidence(catalogue), catalogue.numbers.machines()
    newest = {one.machine: one for one in reversed(in_order(catalogue.numbers))}
    for machine, one in newest.items():
        make = partial(_guidance, known, one)
        values = kept_of_machine("guidance", catalogue, [one, *runs[machine]], make, str(known.spread))
        yield f"guidance/{machine}.json", script_json(values)


def _guidance(known: Evidence, newest: Submission) -> Values:
    machine, costs = newest.machine, []
    spread = None if is_hosted(machine) else known.spread
    for tracer, cases in known.by_tracer(machine).items():
        for case, one in cases.items():
            cost = event_cost(known, (machine, tracer, case), one.bounded_cost)[0]
            costs.append(
                {
                    "tracer": tracer,
                    "case": case,
                    "basis": "measured",
                    "cost": ends(for_next_run(cost, spread)),
                    "clear": one.is_clear,
                    "date": names.date_words(one.submission.date),
                }
            )
    return {"where": names.machine_name(newest), "href": addresses.machine(machine), "costs": costs}


INDEX = "compare/index.json"


def compare_files(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> Iterator[tuple[str, str]]:
    index = {
        "version": catalogue.version,
        "cite": view_citation("compare", catalogue.edition),
        "words": {"time": comparison.words_of_outcomes(), "instructions": instructions.words_of_outcomes()},
        "formula": FORMULA_START.pattern,
        "cases": {case.id: [catalogue.titles[case.id], addresses.case(case.id)] for case in catalogue.cases()},
        **choice(machines, catalogue),
        "first": _first_choice(catalogue, machines),
    }
    yield INDEX, script_json(index)
    for machine in machines:
        shards = kept_of_machine("compare", catalogue, machine.submissions, partial(_shards, machine))
        for tracer, shard in shards.items():
            yield shard_name(machine.name, tracer), script_json(shard)


def shard_name(machine: str, tracer: str) -> str:
    """The file of a subject; no id has two hyphens in a row."""
    return f"compare/{machine}--{tracer}.json"


def _first_choice(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> dict[Metric, list[str]]:
    """The sides that the page begins with: two tracers of the reference machine; one tracer on two kernels.

    Both kernels are of one architecture: counts of two are never compared.
    """
    reference = reference_submission(catalogue.numbers)
    known = offered(machines, catalogue)
    home = [one for one in known if reference and (one.name, one.metric) == (reference.machine, "time")]
    every = [one for one in known if one.metric == "instructions"]
    counting = [one for one in every if one.architecture == every[0].architecture]
    usual = next((tracer for one in counting for tracer in one.tools), None)
    with_it = [f"{one.name}:{usual}" for one in counting if usual in one.tools]
    first: dict[Metric, list[str]] = {
        "time": [f"{one.name}:{tracer}" for one in home for tracer in list(one.tools)[:2]],
        "instructions": [*with_it[:1], *with_it[-1:]],
    }
    return {metric: sides for metric, sides in first.items() if sides}


def _shards(machine: MeasuredMachine) -> dict[str, Values]:
    own = {tracer: [one for one in machine.every if one.tracer == tracer] for tracer in machine.tools}
    # Every case and level that two tracers have, with both; from one submission where one has both. By tracer, then by
    # the other: the places of two numbers in their files, and their difference over the blocks that both have, if any.
    places = {one: place for numbers in own.values() for place, one in enumerate(numbers)}
    cases = {tracer: {one.case for one in numbers} for tracer, numbers in own.items()}
    beside: dict[str, dict[str, list[tuple[int, int, list[float | None] | None]]]] = {tracer: {} for tracer in own}
    for first, second in combinations(own, 2):
        common = [] if cases[first].isdisjoint(cases[second]) else between_tracers(machine, first, second)
        for pair in common:
            one, other = places[pair.first], places[pair.second]
            there = ends(pair.difference) if pair.is_paired else None
            back = there and [None if end is None else -end for end in (there[0], there[2], there[1])]
            beside[first].setdefault(second, []).append((one, other, there))
            beside[second].setdefault(first, []).append((other, one, back))
    current, shards = set(machine.numbers.values()), {}
    for tracer, numbers in own.items():
        runs = {run: some[0] for run, some in grouped_by(numbers, lambda one: one.submission.id).items()}
        order = list(runs)
        shards[tracer] = {
            "machine": machine.name,
            "metric": machine.metric,
            "runs": [{"id": run, "traits": traits([one])} for run, one in runs.items()],
            "current": sum(one in current for one in numbers),
            "numbers": [
                number_values(one)
                | {"of": instructions.subject(one), "text": ladder_page.cost(one)}
                | {"run": order.index(one.submission.id)}
                | compared_values(one)
                for one in numbers
            ],
            "tracer": tracer,
            "beside": beside[tracer],
        }
    return shards


def compared_values(one: Number) -> Values:
    untraced = one.baseline.value if one.baseline else None
    counted = {"untraced": short(untraced), "architecture": one.submission.architecture}
    own = {"floor": short(one.time.noise_floor_ns)} if one.is_time else counted
    return {"cost": ends(one.cost), "faults": faults(one), **own}


FORM = "explore.json"
ALL_SUITES = "all"

_RATIOS = ("slowdown_ratio", "slowdown_low_ratio", "slowdown_high_ratio")
# What the page shows, by its choice: in words, on the axis, and as columns of its files.
QUANTITIES = {
    "cost": {"title": COST.cited, "axis": NANOSECONDS.title, "columns": NANOSECONDS.columns},
    "slowdown": {"title": "Slowdown of a busy thread at {rate}", "axis": "slowdown, %", "columns": _RATIOS},
    "instructions": {"title": COUNTED.cited, "axis": INSTRUCTIONS.title, "columns": INSTRUCTIONS.columns},
}


def explore_files(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> Iterator[tuple[str, str]]:
    yield FORM, script_json(_form(catalogue, machines))
    for one in machines:
        yield f"explore/{one.name}.json", script_json({"machine": one.name, "numbers": _numbers(one)})


def _form(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> Values:
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
        "unclear": "{most}".join(parts.UNCLEAR),
        "flag": instructions.FLAG,
        "limits": {"rate_hz": [MIN_RATE_HZ, MAX_RATE_HZ]},
        "suites": [suite for suite in suites if suite["cases"]],
        **choice(machines, catalogue),
        "tracers": tracers,
        "names": {tracer: names.tracer_name(tracer) for tracer in tracers},
        "usual": _usual(catalogue, machines),
        "quantities": QUANTITIES,
        "chart": {
            "schema": theme.SCHEMA,
            "config": theme.config(),
            "widths": theme.WIDTHS,
            "series": theme.SERIES,
            "looks": {tracer: (theme.look(tracer).series, theme.look(tracer).form) for tracer in tracers},
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


def _numbers(machine: MeasuredMachine) -> list[Values]:
    # Number's id to its place among the tracers that have its case and level there; counts have none.
    groups = grouped_by(machine.numbers.values(), lambda one: (one.case, one.level))
    places = {key: place for some in groups.values() for key, place in comparison.places(some).items()}
    return [
        number_values(one)
        | {
            "tracer": one.tracer,
            "tool": names.tool_with_version(one),
            "submission": one.submission.id,
            "floor": short(one.time.noise_floor_ns),
            "clear": one.distinguishable is True or not one.is_time,
            "sound": one.leads,
            "grade": one.grade,
            "place": places.get(one.id),
            "text": ladder_page.flagged(one),
        }
        for one in machine.numbers.values()
    ]


MATRIX = "matrix.json"

# The cost at which each colour but the first begins, in ns or in instructions: about half a power of ten apart.
STEPS = (30, 100, 300, 1_000, 3_000, 10_000)


def matrix_file(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> Iterator[tuple[str, str]]:
    kinds = grouped_by(offered(machines, catalogue), lambda one: one.architecture if one.metric != "time" else "")
    between = [f"{units.count(low)} to {units.count(high)}" for low, high in pairwise(STEPS)]
    steps = [f"below {units.count(STEPS[0])}", *between, f"{units.count(STEPS[-1])} or more"]
    matrices = [_matrix(catalogue, kind, some) for kind, some in kinds.items()]
    yield MATRIX, script_json({"steps": steps, "matrices": matrices})


def _matrix(catalogue: Catalogue, architecture: str, machines: Sequence[MeasuredMachine]) -> Values:
    """The columns and tables of one kind of machines; `architecture` is that of counts, empty for times.

    The tracer with most numbers has the first table.
    """
    word, columns = names.architecture(architecture), [one.name for one in machines]
    numbers = (one for machine in machines for one in machine.numbers.values() if one.level is None)
    tracers = sorted(grouped_by(numbers, lambda one: one.tracer).values(), key=len, reverse=True)
    return {
        "metric": machines[0].metric,
        "id": word or "machines",
        "of": "kernel" if word else "machine",
        "unit": f"instructions, {word}" if word else "ns",
        "columns": [{key: values[key] for key in ("id", "label", "href")} for values in map(machine_values, machines)],
        "tables": [_table(catalogue, columns, own) for own in tracers],
    }


def _table(catalogue: Catalogue, columns: Sequence[str], numbers: Sequence[Number]) -> Values:
    cells = {(one.case, one.submission.machine): _cell(one) for one in numbers}
    measured = {case for case, _ in cells}
    suites = []
    for folder in first_suite_first(catalogue):
        rows = [
            {
                "title": _title(catalogue, case),
                "href": addresses.case(case.id),
                "cells": [cells.get((case.id, column)) for column in columns],
            }
            for case in folder.suite.cases
            if case.id in measured
        ]
        if rows:
            suites.append({"title": folder.suite.title, "rows": rows})
    tools = dict.fromkeys(names.tool_with_version(one) for one in numbers)
    return {"id": numbers[0].tracer, "tool": ", ".join(tools), "suites": suites}


def _title(catalogue: Catalogue, case: Case) -> str:
    calls = calls_of_event(evidence(catalogue), case.id)
    if calls:
        return f"{case.title}, per iteration of {calls} system calls"
    if case.probe == "raw-tracepoint":
        return f"{case.title}, per call"
    return f"{case.title}, per iteration" if case.counted_by == "nothing" else case.title


def _cell(one: Number) -> Values:
    """The text of a number, the address of its page, and its colour; None for what is unclear or flagged."""
    cost, most = one.known_cost, one.bounded_cost.high
    colour: str | None = f"heat-{bisect(STEPS, cost.value)}"
    if not one.is_time:
        text = units.count(cost.value)
    elif one.is_clear or most is None:
        text = units.value(cost, units.NANOSECONDS)
    else:
        text, colour = f"≤ {units.significant(most, 2)}", None
    return {
        "text": text if one.leads else f"{text} {instructions.FLAG}",
        "href": addresses.number(one, "cost" if one.is_time else "instructions"),
        "colour": colour if one.leads else None,
    }
