"""What the page `/compare/` works with: an index of its subjects, and a file for each of them.

A subject is one machine with one tracer. Two of different machines share no block, so the page works their difference
out itself (`site/assets/js/comparison.js`, the port of `compare.comparison`). Two of one machine often do, and then
the interval of the difference takes the raw rows, which only this side has: it is made here.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

from probe_effect.compare.comparison import between_tracers, faults
from probe_effect.compare.sides import traits
from probe_effect.compare.subjects import MeasuredMachine, offered
from probe_effect.exports import script_values
from probe_effect.exports.script_values import ends, number_values, script_json, short
from probe_effect.model import Metric
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.shown import reference_submission
from probe_effect.pages import addresses, instructions, ladder_page
from probe_effect.pages.comparison import words_of_outcomes
from probe_effect.reduce.submission import Number
from probe_effect.store.tables import FORMULA_START

INDEX = "compare/index.json"

SharedDifference = tuple[int, int, list[float | None] | None]
"""The places of two numbers in their files, and the difference over the blocks that both have, where they have any."""

TracerDifferences = dict[str, dict[str, list[SharedDifference]]]
"""Tracer to other tracers of the machine to the pairs of both."""


def compare_files(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> Iterator[tuple[str, str]]:
    """File name below `/data/` and its JSON."""
    yield INDEX, script_json(_index(catalogue, machines))
    for machine in machines:
        shards = script_values.kept_of_machine("compare", catalogue, machine.submissions, partial(_shards, machine))
        for tracer, shard in shards.items():
            yield shard_name(machine.name, tracer), script_json(shard)


def shard_name(machine: str, tracer: str) -> str:
    """The file of a subject; no id has two hyphens in a row."""
    return f"compare/{machine}--{tracer}.json"


def _index(catalogue: Catalogue, machines: Sequence[MeasuredMachine]) -> dict[str, Any]:
    return {
        "version": catalogue.version,
        "cite": script_values.view_citation("compare", catalogue.edition),
        "words": {"time": words_of_outcomes(), "instructions": instructions.words_of_outcomes()},
        "formula": FORMULA_START.pattern,
        "cases": {case.id: [catalogue.titles[case.id], addresses.case(case.id)] for case in catalogue.cases()},
        **script_values.choice(machines, catalogue),
        "first": _first_choice(catalogue, machines),
    }


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


def _shards(machine: MeasuredMachine) -> dict[str, dict[str, Any]]:
    """Tracer to the file that it has with a machine."""
    own = {tracer: [one for one in machine.every if one.tracer == tracer] for tracer in machine.tools}
    # Every case and level that two tracers have, with both; from one submission where one has both.
    places = {one: place for numbers in own.values() for place, one in enumerate(numbers)}
    cases = {tracer: {one.case for one in numbers} for tracer, numbers in own.items()}
    beside: TracerDifferences = {tracer: {} for tracer in own}
    for first, second in combinations(own, 2):
        common = [] if cases[first].isdisjoint(cases[second]) else between_tracers(machine, first, second)
        for pair in common:
            one, other = places[pair.first], places[pair.second]
            there = ends(pair.difference) if pair.is_paired else None
            back = there and [None if end is None else -end for end in (there[0], there[2], there[1])]
            beside[first].setdefault(second, []).append((one, other, there))
            beside[second].setdefault(first, []).append((other, one, back))
    return {
        tracer: _shard(machine, numbers) | {"tracer": tracer, "beside": beside[tracer]}
        for tracer, numbers in own.items()
    }


def _shard(machine: MeasuredMachine, numbers: Sequence[Number]) -> dict[str, Any]:
    """The numbers of one tracer, those that are current first, with the runs that they are from."""
    current = set(machine.numbers.values())
    runs: dict[str, Number] = {}
    for one in numbers:
        runs.setdefault(one.submission.id, one)
    places = {run: place for place, run in enumerate(runs)}
    return {
        "machine": machine.name,
        "metric": machine.metric,
        "runs": [{"id": run, "traits": traits([one])} for run, one in runs.items()],
        "current": sum(one in current for one in numbers),
        "numbers": [
            number_values(one)
            | {"of": instructions.subject(one), "text": ladder_page.cost(one), "run": places[one.submission.id]}
            | compared_values(one)
            for one in numbers
        ],
    }


def compared_values(one: Number) -> dict[str, Any]:
    """The values of a number that its comparison needs."""
    untraced = one.baseline.value if one.baseline else None
    counted = {"untraced": short(untraced), "architecture": one.submission.architecture}
    own = {"floor": short(one.noise_floor_ns)} if one.is_time else counted
    return {"cost": ends(one.cost), "faults": faults(one), **own}
