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
from probe_effect.costs.evidence import Evidence, evidence_of
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


def script_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def kept_of_machine(
    what: str, catalogue: Catalogue, runs: Sequence[Submission], make: Callable[[], Any], *others: str
) -> Any:  # noqa: ANN401 (JSON)
    """What `make` makes of runs of one machine and `others`, as JSON has it; kept while these, suites and code stay."""
    made_from = [*(f"{run.id} {run.digest}" for run in runs), *others]
    code = f"{parts.page_code()} {code_version('costs', 'answer', 'scripts', 'site')}"
    kept = catalogue.kept if all(run.digest for run in runs) else NOWHERE
    return json.loads(kept.made(lambda: script_json(make()).encode(), what, code, catalogue.suites_digest, *made_from))


def ends(estimate: Estimate | None, digits: int = DIGITS) -> list[float | None] | None:
    return None if estimate is None else [short(end, digits) for end in estimate]


def short(value: float | None, digits: int = DIGITS) -> float | None:
    return None if value is None else float(f"{value:.{digits}g}")


def number_values(number: Number) -> Values:
    return {
        "case": number.case,
        "level": number.level,
        "cost": ends(number.cost),
        "href": addresses.number(number, "cost" if number.is_time else "instructions"),
    }


def machine_values(machine: MeasuredMachine) -> Values:
    newest = machine.submissions[0]
    return {
        "id": machine.name,
        "metric": machine.metric,
        "label": machine.label,
        "tier": tier(newest.document.machine, machine.metric),
        "href": addresses.machine_of(newest),
        "tracers": list(machine.tools.items()),
    }


def choice(machines: Sequence[MeasuredMachine], catalogue: Catalogue) -> Values:
    return {"machines": [machine_values(machine) for machine in offered(machines, catalogue)], "all": len(machines)}


def view_citation(path: Literal["explore", "compare"], edition: Edition) -> dict[str, str]:
    """A citation of one view of a page, with places for its title and its whole address."""
    made = cite(Subject(path, CITED_TITLE, CITED_ADDRESS), Edition(edition.version, ""))
    return {"text": made.text, "bibtex": made.bibtex}


def guidance_files(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """File name below `/data/` and its JSON: what an event costs on a machine, with the ends for its next run."""
    evidence, runs = evidence_of(catalogue), catalogue.numbers.machines()
    newest = {submission.machine: submission for submission in reversed(in_order(catalogue.numbers))}
    for machine, submission in newest.items():
        make = partial(_guidance, evidence, submission)
        values = kept_of_machine("guidance", catalogue, [submission, *runs[machine]], make, str(evidence.spread))
        yield f"guidance/{machine}.json", script_json(values)


def _guidance(evidence: Evidence, newest: Submission) -> Values:
    machine, costs = newest.machine, []
    spread = None if is_hosted(machine) else evidence.spread
    for tracer, cases in evidence.by_tracer(machine).items():
        for case, number in cases.items():
            cost = event_cost(evidence, (machine, tracer, case), number.bounded_cost)[0]
            costs.append(
                {
                    "tracer": tracer,
                    "case": case,
                    "basis": "measured",
                    "cost": ends(for_next_run(cost, spread)),
                    "clear": number.is_clear,
                    "date": names.date_words(number.submission.date),
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
    candidates = offered(machines, catalogue)
    home = [
        machine for machine in candidates if reference and (machine.name, machine.metric) == (reference.machine, "time")
    ]
    every = [machine for machine in candidates if machine.metric == "instructions"]
    counting = [machine for machine in every if machine.architecture == every[0].architecture]
    usual = next((tracer for machine in counting for tracer in machine.tools), None)
    with_it = [f"{machine.name}:{usual}" for machine in counting if usual in machine.tools]
    first: dict[Metric, list[str]] = {
        "time": [f"{machine.name}:{tracer}" for machine in home for tracer in list(machine.tools)[:2]],
        "instructions": [*with_it[:1], *with_it[-1:]],
    }
    return {metric: sides for metric, sides in first.items() if sides}


def _shards(machine: MeasuredMachine) -> dict[str, Values]:
    own = {tracer: [number for number in machine.every if number.tracer == tracer] for tracer in machine.tools}
    # Every case and level that two tracers have, with both; from one submission where one has both. By tracer, then by
    # the other: the places of two numbers in their files, and their difference over the blocks that both have, if any.
    places = {number: index for numbers in own.values() for index, number in enumerate(numbers)}
    cases = {tracer: {number.case for number in numbers} for tracer, numbers in own.items()}
    beside: dict[str, dict[str, list[tuple[int, int, list[float | None] | None]]]] = {tracer: {} for tracer in own}
    for first, second in combinations(own, 2):
        common = [] if cases[first].isdisjoint(cases[second]) else between_tracers(machine, first, second)
        for pair in common:
            position, other = places[pair.first], places[pair.second]
            there = ends(pair.difference) if pair.is_paired else None
            back = there and [None if end is None else -end for end in (there[0], there[2], there[1])]
            beside[first].setdefault(second, []).append((position, other, there))
            beside[second].setdefault(first, []).append((other, position, back))
    current, shards = set(machine.numbers.values()), {}
    for tracer, numbers in own.items():
        runs = {run: some[0] for run, some in grouped_by(numbers, lambda number: number.submission.id).items()}
        order = list(runs)
        shards[tracer] = {
            "machine": machine.name,
            "metric": machine.metric,
            "runs": [{"id": run, "traits": traits([number])} for run, number in runs.items()],
            "current": sum(number in current for number in numbers),
            "numbers": [
                number_values(number)
                | {"of": instructions.subject(number), "text": ladder_page.cost(number)}
                | {"run": order.index(number.submission.id)}
                | compared_values(number)
                for number in numbers
            ],
            "tracer": tracer,
            "beside": beside[tracer],
        }
    return shards


def compared_values(number: Number) -> Values:
    untraced = number.baseline.value if number.baseline else None
    counted = {"untraced": short(untraced), "architecture": number.submission.architecture}
    own = {"floor": short(number.time.noise_floor_ns)} if number.is_time else counted
    return {"cost": ends(number.cost), "faults": faults(number), **own}


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
    for machine in machines:
        yield f"explore/{machine.name}.json", script_json({"machine": machine.name, "numbers": _numbers(machine)})


def _form(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> Values:
    tracers = sorted({number.tracer for subject in machines for number in subject.numbers.values()})
    # Suites with the cases and levels that have a number, the first suite first.
    levels: dict[str, set[str]] = defaultdict(set)
    for key in (key for machine in machines for key in machine.numbers):
        levels[key.case].update([] if key.level is None else [key.level])
    suites = []
    for suite in (folder.suite for folder in first_suite_first(catalogue)):
        measured = [case.id for case in suite.cases if case.id in levels]
        cases = [[case, catalogue.titles[case], addresses.case(case)] for case in measured]
        suite_levels = sorted({level for case in measured for level in levels[case]}, key=level_order)
        suites.append({"id": suite.id, "title": suite.title, "levels": suite_levels, "cases": cases})
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
    candidates = offered(machines, catalogue)
    times = [machine for machine in candidates if machine.metric == "time"]
    times.sort(key=lambda machine: reference is not None and machine.name != reference.machine)
    by_metric: dict[str, dict[str, str]] = {"time": {}, "instructions": {}}
    counts = [machine for machine in reversed(candidates) if machine.metric == "instructions"]
    counts.sort(key=lambda machine: architecture_order(machine.architecture))
    for machine in (*times, *counts):
        for suite in (ALL_SUITES, *(number.submission.suite for number in machine.numbers.values())):
            by_metric[machine.metric].setdefault(suite, machine.name)
    return by_metric


def _numbers(machine: MeasuredMachine) -> list[Values]:
    # Number's id to its place among the tracers that have its case and level there; counts have none.
    groups = grouped_by(machine.numbers.values(), lambda number: (number.case, number.level))
    places = {key: rank for some in groups.values() for key, rank in comparison.places(some).items()}
    return [
        number_values(number)
        | {
            "tracer": number.tracer,
            "tool": names.tool_with_version(number),
            "submission": number.submission.id,
            "floor": short(number.time.noise_floor_ns),
            "clear": number.distinguishable is True or not number.is_time,
            "sound": number.leads,
            "grade": number.grade,
            "place": places.get(number.id),
            "text": ladder_page.flagged(number),
        }
        for number in machine.numbers.values()
    ]


MATRIX = "matrix.json"

# The cost at which each colour but the first begins, in ns or in instructions: about half a power of ten apart.
STEPS = (30, 100, 300, 1_000, 3_000, 10_000)


def matrix_file(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> Iterator[tuple[str, str]]:
    kinds = grouped_by(
        offered(machines, catalogue), lambda machine: machine.architecture if machine.metric != "time" else ""
    )
    between = [f"{units.count(low)} to {units.count(high)}" for low, high in pairwise(STEPS)]
    steps = [f"below {units.count(STEPS[0])}", *between, f"{units.count(STEPS[-1])} or more"]
    matrices = [_matrix(catalogue, kind, some) for kind, some in kinds.items()]
    yield MATRIX, script_json({"steps": steps, "matrices": matrices})


def _matrix(catalogue: Catalogue, architecture: str, machines: Sequence[MeasuredMachine]) -> Values:
    """The columns and tables of one kind of machines; `architecture` is that of counts, empty for times.

    The tracer with most numbers has the first table.
    """
    word, columns = names.architecture(architecture), [subject.name for subject in machines]
    numbers = (number for machine in machines for number in machine.numbers.values() if number.level is None)
    tracers = sorted(grouped_by(numbers, lambda number: number.tracer).values(), key=len, reverse=True)
    return {
        "metric": machines[0].metric,
        "id": word or "machines",
        "of": "kernel" if word else "machine",
        "unit": f"instructions, {word}" if word else "ns",
        "columns": [{key: values[key] for key in ("id", "label", "href")} for values in map(machine_values, machines)],
        "tables": [_table(catalogue, columns, own) for own in tracers],
    }


def _table(catalogue: Catalogue, columns: Sequence[str], numbers: Sequence[Number]) -> Values:
    cells = {(number.case, number.submission.machine): _cell(number) for number in numbers}
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
    tools = dict.fromkeys(names.tool_with_version(number) for number in numbers)
    return {"id": numbers[0].tracer, "tool": ", ".join(tools), "suites": suites}


def _title(catalogue: Catalogue, case: Case) -> str:
    calls = calls_of_event(evidence_of(catalogue), case.id)
    if calls:
        return f"{case.title}, per iteration of {calls} system calls"
    if case.probe == "raw-tracepoint":
        return f"{case.title}, per call"
    return f"{case.title}, per iteration" if case.counted_by == "nothing" else case.title


def _cell(number: Number) -> Values:
    """The text of a number, the address of its page, and its colour; None for what is unclear or flagged."""
    cost, most = number.known_cost, number.bounded_cost.high
    colour: str | None = f"heat-{bisect(STEPS, cost.value)}"
    if not number.is_time:
        text = units.count(cost.value)
    elif number.is_clear or most is None:
        text = units.value(cost, units.NANOSECONDS)
    else:
        text, colour = f"≤ {units.significant(most, 2)}", None
    return {
        "text": text if number.leads else f"{text} {instructions.FLAG}",
        "href": addresses.number(number, "cost" if number.is_time else "instructions"),
        "colour": colour if number.leads else None,
    }
