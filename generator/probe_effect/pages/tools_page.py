"""What `/tools/` says from data: what the standard tools of each package cost an event, and from which rate on."""

from collections import Counter
from collections.abc import Sequence
from operator import itemgetter

from probe_effect import units
from probe_effect.answer.evidence import evidence
from probe_effect.answer.part import PLAIN_ACTION
from probe_effect.answer.standard_tools import ToolCost, best_machine, tool_costs
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.once import grouped_by
from probe_effect.numbers.shown import in_order, shown_machines
from probe_effect.pages.markdown import render
from probe_effect.reduce.thresholds import threshold
from probe_effect.store.tools_file import StandardTool, ToolProbes

SHOWN_PLACES = 3
"""Attach points of one group that a row names."""


def write(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown: the costs, and what each tool asks and attaches."""
    found = evidence(catalogue)
    shown = shown_machines(catalogue.numbers)
    submissions = [one for one in in_order(catalogue.numbers) if one.machine in shown]
    machine = best_machine(found, catalogue.tools, list(dict.fromkeys(one.machine for one in submissions)))
    submission = next((one for one in submissions if one.machine == machine), None)
    packages_read_first = sorted(catalogue.tools, key=lambda one: (one.scripts is None, one.package))
    packages = [(one, tool_costs(found, machine, one)) for one in packages_read_first] if machine else []
    words = {"cost": cost, "threshold": threshold, "usual_rate": usual_rate, "notes": notes}
    costs = render("fragments/tools.md.j2", packages=packages, submission=submission, **words)
    asked = render("fragments/tools-asked.md.j2", packages=packages, places=places, actions=actions)
    return {"tools.md": costs, "tools-asked.md": asked}


def notes(costs: Sequence[ToolCost]) -> dict[str, list[str]]:
    """Each assumption on costs, to the names of the tools for which it was made."""
    noted = grouped_by(((note, one.tool.name) for one in costs for note in one.notes), itemgetter(0))
    return {note: [tool for _, tool in own] for note, own in noted.items()}


def cost(one: ToolCost) -> str:
    """The cost of one event with its basis, or why there is none."""
    if one.cost is not None:
        return f"{units.interval(one.cost, units.DURATION)}, {one.basis}"
    if one.is_clocked:
        return "fired by a clock, not by events"
    return f"no time of {' and '.join(one.missing)} with these actions"


def usual_rate(tool: StandardTool) -> str:
    """The usual rate of such events, with who states it; none is said as none."""
    low, high = tool.usual_from_hz, tool.usual_to_hz
    if low is None and high is None:
        return "none stated"
    words = [f"from {units.rate(low, 1)}"] if low is not None else []
    words += [f"{'to' if words else 'up to'} {units.rate(high, 1)}"] if high is not None else []
    return f"{' '.join(words)} ({tool.usual_source})"


def places(group: ToolProbes) -> str:
    """The attach points of a group as text, the first of them by name."""
    shown, more = group.attach[:SHOWN_PLACES], len(group.attach) - SHOWN_PLACES
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def actions(group: ToolProbes) -> str:
    """The actions of a group at each event as text, each once with how often."""
    if group.actions == (PLAIN_ACTION,):
        return "what the tracer itself does"
    times = Counter(group.actions)
    said = [action if count == 1 else f"{action} ({count} times)" for action, count in times.items()]
    said += group.unknown
    return ", ".join(said) + ("; behind a condition" if group.filter else "")
