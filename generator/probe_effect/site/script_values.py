"""What scripts of pages get of numbers and machines, as small as it can be, and what `/compare/` works with.

A subject is one machine with one tracer. Two of different machines share no block, so the page works their difference
out itself (`site/assets/js/comparison.js`, the port of `compare.comparison`). Two of one machine often do, and then
the interval of the difference takes the raw rows, which only this side has: it is made here.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Literal

from probe_effect.compare.compared import traits
from probe_effect.compare.comparison import between_tracers, faults
from probe_effect.compare.subjects import MeasuredMachine, offered
from probe_effect.costs.evidence import Evidence, evidence
from probe_effect.costs.row import event_cost
from probe_effect.model import Estimate, Metric
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import for_next_run, grouped_by
from probe_effect.numbers.names import Edition, Subject, cite, tier
from probe_effect.numbers.shown import in_order, reference_submission
from probe_effect.numbers.submission import Number, Submission
from probe_effect.site.pages import addresses, instructions, ladder_page
from probe_effect.site.pages.comparison import words_of_outcomes
from probe_effect.site.pages.parts import page_code
from probe_effect.store.kept import NOWHERE, code_version
from probe_effect.store.machine_file import is_hosted
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
    code = f"{page_code()} {code_version('costs', 'answer', 'scripts', 'site')}"
    kept = catalogue.kept if all(one.digest for one in runs) else NOWHERE
    return json.loads(kept.made(lambda: script_json(make()).encode(), what, code, catalogue.suites_digest, *made_from))


def ends(found: Estimate | None, digits: int = DIGITS) -> list[float | None] | None:
    return None if found is None else [short(end, digits) for end in found]


def short(value: float | None, digits: int = DIGITS) -> float | None:
    """A number with so many digits, by default as many as scripts get."""
    return None if value is None else float(f"{value:.{digits}g}")


def number_values(one: Number) -> Values:
    """The values of a number for `/explore/` and `/compare/`; in ns per event, or instructions per event."""
    return {
        "case": one.case,
        "level": one.level,
        "cost": ends(one.cost),
        "href": addresses.number(one, "cost" if one.is_time else "instructions"),
    }


def machine_values(one: MeasuredMachine) -> Values:
    """The values of a machine for these pages: its short name, its page, its tracers."""
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
    """The machines that a form offers, and of how many."""
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
    """File name below `/data/` and its JSON."""
    index = {
        "version": catalogue.version,
        "cite": view_citation("compare", catalogue.edition),
        "words": {"time": words_of_outcomes(), "instructions": instructions.words_of_outcomes()},
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
    return {
        tracer: _shard(machine, numbers) | {"tracer": tracer, "beside": beside[tracer]}
        for tracer, numbers in own.items()
    }


def _shard(machine: MeasuredMachine, numbers: Sequence[Number]) -> Values:
    """The numbers of one tracer, those that are current first, with the runs that they are from."""
    current = set(machine.numbers.values())
    runs = {run: some[0] for run, some in grouped_by(numbers, lambda one: one.submission.id).items()}
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


def compared_values(one: Number) -> Values:
    """The values of a number that its comparison needs."""
    untraced = one.baseline.value if one.baseline else None
    counted = {"untraced": short(untraced), "architecture": one.submission.architecture}
    own = {"floor": short(one.time.noise_floor_ns)} if one.is_time else counted
    return {"cost": ends(one.cost), "faults": faults(one), **own}
