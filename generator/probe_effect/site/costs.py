"""The cost tables as JSON, for the site's forms and for others, and tables of costs that hand-written pages ask for.

One file is for each machine and kind of machines. `site/tables.toml` has the tables that pages ask for by name. Such a
table has the costs of one machine: the home machine, or if it has none of them the one with most; what only another
machine has is in a column of its own. Its cells are facts like those in the text, so that a reader may have them from
another machine (site/assets/js/whose.js).
"""

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from probe_effect import units
from probe_effect.answer.prediction import note_of
from probe_effect.costs.actions import READINGS, STOPS
from probe_effect.costs.evidence import Scope, evidence_of, whose
from probe_effect.costs.machine import machine_costs, own_actions
from probe_effect.costs.row import SAMPLED, CostRow, RowKey
from probe_effect.costs.table import CostTable
from probe_effect.model import Estimate, ProbeEffectError
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import once
from probe_effect.numbers.names import tool_of
from probe_effect.numbers.shown import facts_of_submission
from probe_effect.records import beside
from probe_effect.scripts.form import KINDS, TRACEPOINTS
from probe_effect.site.facts import Fact, asked_for, facts, written
from probe_effect.site.pages import addresses, links
from probe_effect.site.pages.parts import Part, Pieces, Table, TableColumn, column, fragment, of_data, source_label
from probe_effect.site.pages.text import link, listed, safe, say, together
from probe_effect.site.script_values import Values, script_json, short

FORMAT = 1  # the version of the form of these files: it rises where something is taken away or means something else
DIGITS = 6  # more than an answer is written with
COLUMNS = ("value_ns", "low_ns", "high_ns", "basis", "machines", "note", "without_hypervisor", "calls")
"""What each place of a row is; those at the end are left out where nothing is known."""

USER_PROBES = ("uprobe", "uretprobe")  # types of probe whose cost depends on the instruction that they replace
MECHANISMS = ("emulated", "stepped", "called")
PROBE_KINDS = tuple(dict.fromkeys((*KINDS.values(), *(kind for _, kind in TRACEPOINTS), "system-call")))


def file_name(kind: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", kind.lower())


def scopes(catalogue: Catalogue) -> dict[str, tuple[str, Scope]]:
    """The name of each file to what it is of, in words, and its scope: kinds of machines, then each machine."""
    evidence = evidence_of(catalogue)
    newest = {submission.machine: submission for submission in reversed(catalogue.numbers.submissions)}
    facts_of = {machine: facts_of_submission(newest[machine]) for machine in evidence.machines}
    kinds = {
        machine_facts.kind: whose(evidence, replace(machine_facts, machine="", name=""))
        for machine_facts in facts_of.values()
    }
    made = {file_name(kind): (f"any {kind}", scope) for kind, scope in kinds.items()}
    return made | {
        machine_id: (names.machine_name(newest[machine_id]), whose(evidence, facts_of[machine_id], machine_id))
        for machine_id in facts_of
    }


@once
def scope_tables(catalogue: Catalogue) -> dict[str, Values]:
    """What is in each file: the tables of all tracers. Rows have the places of notes and machines in their lists."""
    evidence = evidence_of(catalogue)
    standard = (probe.kind for package in catalogue.tools for tool in package.tools for probe in tool.probes)
    kinds = dict.fromkeys((*PROBE_KINDS, *standard, *(case.probe for case in catalogue.cases() if case.action)))
    tracers = dict.fromkeys([*evidence.tracers, STOPS, *(tool_of(tracer) for _, tracer, _ in evidence.printed)])
    by_name: dict[str, Values] = {}
    for name, (words, scope) in scopes(catalogue).items():
        notes, machines = dict[str, int](), dict[str, int]()
        tables = {
            tracer: table_values(CostTable(evidence, scope, tracer), kinds, notes, machines) for tracer in tracers
        }
        by_name[name] = {
            "format": FORMAT,
            "version": catalogue.version,
            "scope": {"id": name, "name": words},
            "unit": "ns an event",
            "columns": COLUMNS,
            "machines": [machine.split() for machine in machines],
            "notes": list(notes),
            "tracers": {tracer: table for tracer, table in tables.items() if table["rows"]},
        }
    return by_name


def cost_files(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    yield "costs/schema.json", Path(__file__).with_suffix(".schema.json").read_text(encoding="utf-8")
    for name, values in scope_tables(catalogue).items():
        yield f"costs/{name}.json", script_json(values)


def table_values(table: CostTable, kinds: Collection[str], notes: dict[str, int], machines: dict[str, int]) -> Values:
    actions = READINGS if table.tracer == STOPS else table.actions
    rows: dict[str, dict[str, list[Any]]] = {}
    for kind in (SAMPLED,) if table.tracer == STOPS else filter(table.knows, kinds):
        for mechanism in (None, *MECHANISMS) if kind in USER_PROBES else (None,):
            own = {action: table.row(RowKey(kind, mechanism, action)) for action in actions}
            by_action = {action: _row(row, notes, machines) for action, row in own.items() if row is not None}
            if by_action:
                rows[f"{kind} {mechanism}" if mechanism else kind] = by_action
    # With its version where it is one machine's, else by its name.
    own_costs = machine_costs(table.found, table.scope.own[0], table.tracer).costs if table.scope.own else {}
    newest = next(iter(own_costs.values()), None)
    highest = table.highest
    return {
        "tool": names.tool_with_version(newest) if newest else names.tracer_name(table.tracer),
        "does_anyway": sorted(own_actions(table.tracer)),
        "stops": table.tracer == STOPS,
        "adds": {action: _ends(added) for action in actions if (added := table.adds(action)) is not None},
        "highest": [highest[0], *_ends(highest[1])] if highest else None,
        "rows": rows,
    }


def _row(row: CostRow, notes: dict[str, int], machines: dict[str, int]) -> list[Any]:
    note, whose_range, path = note_of(row), " ".join(row.machines), row.path
    made = [
        *_ends(row.cost),
        row.basis,
        machines.setdefault(whose_range, len(machines)),
        None if note is None else notes.setdefault(note, len(notes)),
        row.hardware.text if row.hardware else None,
        [*_ends(path.cost), path.calls_per_event] if path else None,
    ]
    while made[-1] is None:
        made.pop()
    return made


def _ends(cost: Estimate) -> list[float | None]:
    return [short(end, DIGITS) for end in cost]


HEADS: Mapping[str, str] = beside(__file__, "cost_tables")["quantities"]
"""The header of each quantity; those at a rate, `slowdown@<rate>`, have the rate."""

USUAL = ("cost", "threshold-1", "threshold-5", "threshold-30")

EXIT = say("The cost of a stepped instruction includes [an exit to KVM](/guide/probes/#from-user-space).")
RED_ZONE = say(
    "A nop of 5 bytes is called on Linux 6.18 to 7.1 alone, and "
    "[inside a function that call can overwrite data](/guide/probes/#from-user-space)."
)


class PairRow(NamedTuple):
    """A case at a level with a tracer, and the fact of each quantity of a table, whatever machine it is of."""

    case: str
    level: str
    tracer: str
    facts: Sequence[Fact | None]
    cost: Fact


class NamedTables:
    """The tables of `site/tables.toml`, by the facts that all hand-written pages quote.

    `facts` are those of their cells, by the key that a fragment quotes each with.
    """

    def __init__(self, catalogue: Catalogue, all_facts: Mapping[str, Fact]) -> None:
        self.catalogue, self.found, self.facts = catalogue, all_facts, dict[str, Fact]()
        oldest_first = sorted(catalogue.timed, key=lambda submission: submission.started)
        self.tools = {number.tracer: names.tool_with_version(number) for run in oldest_first for number in run.numbers}

    def write(self, path: Path) -> Iterator[tuple[str, str]]:
        """Fragment file name to Markdown, for each table of the file of which the data have anything.

        Raises: ProbeEffectError for a quantity that is none.
        """
        for name, asked in tomllib.loads(path.read_text(encoding="utf-8")).items():
            made = self._published(name, **asked) if "source" in asked else self._costs(name, **asked)
            if parts := list(made):
                yield f"tables/{name}.md", fragment(parts)

    def _published(self, name: str, source: str, figures: Sequence[str]) -> Iterator[Part]:
        of = next(
            (published_source for published_source in self.catalogue.sources if published_source.id == source), None
        )
        by_figure = {
            figure_id: self.found[f"{source}.{figure_id}"]
            for figure_id in figures
            if f"{source}.{figure_id}" in self.found
        }
        if of and len(by_figure) == len(figures):
            what = {figure.figure: figure.what for figure in of.figures}
            label = say("Published by {}", link(source_label(of.document), addresses.figure(source)))
            rows = [
                (what[figure_id], self._quoted(f"table/{name}/{at}", by_figure[figure_id]))
                for at, figure_id in enumerate(figures)
            ]
            yield Table((of_data(label, "left"), of_data("Figure")), rows)

    def _costs(
        self, name: str, cases: Sequence[str], tracers: Sequence[str], quantities: Sequence[str] = USUAL
    ) -> Iterator[Part]:
        titles, pairs = [*map(head, quantities)], []
        for case, _, level in (case_key.partition("@") for case_key in cases):
            for tracer in tracers:
                key = f"{tracer}.{case}{level and '@' + level}"
                facts = [self._fact(key, quantity, is_alone=len(quantities) > 2) for quantity in quantities]
                if any(facts):
                    pairs.append(PairRow(case, level, tracer, facts, self.found.get(f"{key}.cost", {})))
        machines = Counter(fact["machine"] for pair in pairs for fact in pair.facts if fact)
        if not machines:
            return
        home = self.found.get("machine", {}).get("machine", "")
        machine = home if home in machines else max(machines, key=machines.__getitem__)
        elsewhere = [next((fact for fact in row.facts if fact and fact["machine"] != machine), None) for row in pairs]

        case, tool = links.case(pairs[0].case, self.catalogue.titles[pairs[0].case]), self.tools[pairs[0].tracer]
        has_levels = any(row.level for row in pairs)
        is_one_case = len(pairs) > 1 and len({row.case for row in pairs}) == 1
        is_one_tracer = len(pairs) > 1 and len({row.tracer for row in pairs}) == 1 and (has_levels or not is_one_case)
        columns: list[tuple[TableColumn, Sequence[object]]] = []
        if not is_one_case:
            links_ = [links.case(row.case, self.catalogue.titles[row.case]) for row in pairs]
            columns.append((of_data("Probe", "left"), links_))
        if has_levels:
            asked = {pair.case for pair in pairs if pair.level}
            suites = (
                folder.suite for folder in self.catalogue.suites if asked & {case.id for case in folder.suite.cases}
            )
            varied = {suite.factor.title for suite in suites if suite.factor}
            varying = column("level", varied.pop() if len(varied) == 1 else None)
            columns.append((varying, [pair.level for pair in pairs]))
        if not is_one_tracer:
            columns.append((of_data("Tracer", "left"), [self.tools[row.tracer] for row in pairs]))
        for at, title in enumerate(titles):
            here = [fact if fact and fact["machine"] == machine else None for fact in (row.facts[at] for row in pairs)]
            missing = ["not timed" if other and not at else "" for other in elsewhere]
            columns.append((of_data(title), self._cells(f"table/{name}/{at}", here, missing)))
        if any(elsewhere):
            cells = [
                fact and Pieces([self._quoted(f"table/{name}/elsewhere/{at}", fact), f" ({fact['place']})"])
                for at, fact in enumerate(elsewhere)
            ]
            columns.append((of_data(f"{titles[0]}, another machine"), [cell or "" for cell in cells]))
        yield Table([column for column, _ in columns], list(zip(*(cells for _, cells in columns), strict=True)))

        common = [say("Case: {}", case)] if is_one_case else []
        common += [say("with {}" if is_one_case else "All with {}", tool)] if is_one_tracer else []
        yield together(
            common and say("{}.", listed(common)),
            say("Measured on {}.", self._quoted(f"table/{name}/machine", {"text": machine, "kind": "place"})),
            any("hardware" in row.cost for row in pairs) and EXIT,
            any("red-zone" in row.cost for row in pairs) and RED_ZONE,
        )

    def _fact(self, key: str, quantity: str, *, is_alone: bool) -> Fact | None:
        """The fact of a cell; many columns leave room for the interval of the cost alone."""
        fact = self.found.get(f"{key}.{quantity}")
        if fact is None and quantity == "cost":
            fact = self.found.get(f"{key}.cost-per-system-call")
        text = fact and fact.get("cell", fact["text"])
        if fact is None or not text:
            return None
        return fact | {"text": units.alone(text) if is_alone and quantity.startswith("threshold") else text}

    def _cells(self, key: str, facts: Sequence[Fact | None], missing: Sequence[str]) -> list[Markup | str]:
        texts = units.in_one_unit([cell_fact["text"] if cell_fact else "" for cell_fact in facts])
        return [
            self._quoted(f"{key}/{at}", fact | {"text": str(text)}) if fact else instead
            for at, (fact, text, instead) in enumerate(zip(facts, texts, missing, strict=True))
        ]

    def _quoted(self, key: str, fact: Fact) -> Markup:
        self.facts[key] = fact
        return say('{{{{< number "{}" same >}}}}', safe(key))


def head(quantity: str) -> str:
    """The header of a quantity. Raises: ProbeEffectError for what is none."""
    name, at, detail = quantity.partition("@")
    if (form := HEADS.get(name + at)) is None:
        raise ProbeEffectError(f"site/tables.toml: {quantity} is no quantity; there are {', '.join(HEADS)}")
    return form.format(detail)


def quoted(
    catalogue: Catalogue, project: Path, fragments: Iterable[str] = ()
) -> tuple[dict[str, Fact], dict[str, str]]:
    """What the pages of a checkout quote, with their `fragments`: key to fact, and file name to named table."""
    asked = asked_for([*written(project / "content"), *fragments])
    all_facts = facts(catalogue, asked)
    tables = NamedTables(catalogue, all_facts)
    named = dict(tables.write(project / "site" / "tables.toml"))
    kept = {}
    for key, wanted in asked.items():
        if fact := all_facts.get(key):
            kept[key] = dict(fact)
            text = fact["text"]
            if isinstance(text, units.Quantity):
                # Its text in the units that tables want it in, by their names.
                scale_units = text.scale.units
                kept[key] |= {unit.name: str(text.to(unit)) for unit in scale_units if unit.name in wanted}
    return {"machine": all_facts["machine"]} | kept | tables.facts if "machine" in all_facts else kept, named
