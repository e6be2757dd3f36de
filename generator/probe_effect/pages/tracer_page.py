"""What pages of tracers and `/tools/` say from data: versions seen, cases, and what standard tools cost."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from probe_effect.answer.asking import ToolCost, best_machine, tool_costs
from probe_effect.costs.evidence import evidence
from probe_effect.costs.row import PLAIN_ACTION
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.shown import in_order, reference_submission, shown_machines
from probe_effect.pages.fragments import first_suite_first
from probe_effect.pages.markdown import render
from probe_effect.pages.results import view_of
from probe_effect.pages.results.cells import NumberColumn
from probe_effect.reduce.submission import Number, threshold
from probe_effect.store.suite_file import Case, Suite
from probe_effect.tools import TOOLS

CaseNumbers = dict[str, "Number"]
"""Tracer id to what is current of a case."""


@dataclass(frozen=True, slots=True)
class SuiteTable:
    """The cases of a suite that a tool can do, a row each, and the versions that they were measured with."""

    suite: Suite
    rows: tuple[tuple[Case, CaseNumbers], ...]
    tracers: tuple[str, ...]

    @property
    def main(self) -> NumberColumn:
        """The quantity that the suite is about."""
        return view_of(self.suite).main


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown: one for each tool, `tracers/<tool>.md`, and the list of all."""
    reference = reference_submission(catalogue.numbers)
    machine = reference.machine if reference else None
    tools = {tool: tables(catalogue, tool, machine) for tool in TOOLS}
    counted = {names.tool_of(case.tracer) for one in catalogue.counted for case in one.numbers}
    written = {
        f"tracers/{tool}.md": render(
            "fragments/tracer.md.j2",
            tool=tool,
            tables=found,
            versions=versions(catalogue, tool),
            reference=reference,
            heads=lambda table: heads(catalogue, table),
            is_counted=tool in counted,
        )
        for tool, found in tools.items()
    }
    overview = {tool: (versions(catalogue, tool), can(catalogue, tool), numbers(catalogue, tool)) for tool in tools}
    return written | {"tracers.md": render("fragments/tracers.md.j2", overview=overview)}


def write_plain(by_hand: Path) -> Iterator[tuple[str, str]]:
    """Path and page of each tool for which the folder `by_hand` has no page: its fragment alone."""
    for place, tool in enumerate(TOOLS, start=1):
        path = f"tracers/{tool}.md"
        if not (by_hand / path).is_file():
            said = f"What {tool} can do here, and what that costs."
            front = {"title": tool, "description": said, "kind": "tracer", "kicker": tool, "weight": 10 * place}
            yield path, f'{json.dumps(front)}\n\n{said}\n\n{{{{< fragment "{path}" >}}}}\n'


def versions(catalogue: Catalogue, tool: str) -> list[str]:
    """The versions of a tool in any submission, as it prints them."""
    found = (
        names.tool(tracer, version)
        for one in catalogue.everything
        for tracer, version in one.document.tools.items()
        if names.tool_of(tracer) == tool
    )
    return sorted(set(found))


def can(catalogue: Catalogue, tool: str) -> list[Case]:
    """The cases that have a script for a tool."""
    return [case for folder in catalogue.suites for case in folder.suite.cases if tool in folder.by_case[case.id]]


def numbers(catalogue: Catalogue, tool: str) -> int:
    """How many cases have a measured number with a tool on any machine."""
    found = (case for one in catalogue.timed for case in one.numbers)
    return len({case.case for case in found if case.cost and names.tool_of(case.tracer) == tool})


def tables(catalogue: Catalogue, tool: str, machine: str | None) -> list[SuiteTable]:
    """For each suite with scripts for `tool`, what the newest submissions of `machine` say of its cases."""
    found = (_table(catalogue, folder, tool, machine) for folder in first_suite_first(catalogue))
    return [table for table in found if table.rows]


def _table(catalogue: Catalogue, folder: SuiteFolder, tool: str, machine: str | None) -> SuiteTable:
    runs = catalogue.numbers.machines().get(machine or "")
    suite = folder.suite.on(runs[0].document.machine.architecture) if runs else folder.suite
    rows = tuple(
        (case, _row(catalogue, case, tool, machine)) for case in suite.cases if tool in folder.by_case[case.id]
    )
    with_number = dict.fromkeys(tracer for _, row in rows for tracer, one in sorted(row.items()) if one.cost)
    return SuiteTable(folder.suite, rows, tuple(with_number))


def _row(catalogue: Catalogue, case: Case, tool: str, machine: str | None) -> CaseNumbers:
    """At a factor's levels there are many numbers, for which the page of the case is."""
    return {
        one.tracer: one
        for one in catalogue.numbers.of_case(case.id)
        if one.submission.machine == machine and names.tool_of(one.tracer) == tool and one.level is None
    }


def heads(catalogue: Catalogue, table: SuiteTable) -> list[str]:
    """The tracers of a table with their versions."""
    known = {tracer: version for one in catalogue.timed for tracer, version in one.document.tools.items()}
    return [names.tool(tracer, known.get(tracer)) for tracer in table.tracers]


def write(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown: the costs, and what each tool asks and attaches."""
    found = evidence(catalogue)
    shown = shown_machines(catalogue.numbers)
    submissions = [one for one in in_order(catalogue.numbers) if one.machine in shown]
    machine = best_machine(found, catalogue.tools, list(dict.fromkeys(one.machine for one in submissions)))
    submission = next((one for one in submissions if one.machine == machine), None)
    packages_read_first = sorted(catalogue.tools, key=lambda one: (one.scripts is None, one.package))
    packages = [(one, tool_costs(found, machine, one)) for one in packages_read_first] if machine else []
    words = {"threshold": threshold, "notes": notes}
    costs = render("fragments/tools.md.j2", packages=packages, submission=submission, **words)
    asked = render("fragments/tools-asked.md.j2", packages=packages, plain=(PLAIN_ACTION,))
    return {"tools.md": costs, "tools-asked.md": asked}


def notes(costs: Sequence[ToolCost]) -> dict[str, list[str]]:
    """Each assumption on costs, to the names of the tools for which it was made."""
    noted = grouped_by(((note, one.tool.name) for one in costs for note in one.notes), itemgetter(0))
    return {note: [tool for _, tool in own] for note, own in noted.items()}
