"""Standard tools are named once, and what they point to is there."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from probe_effect.checks.rule import Fault, rule
from probe_effect.store.documents import value_line
from probe_effect.store.suite_file import Suite
from probe_effect.store.tables import printable
from probe_effect.store.tools_file import ToolPackage, written
from probe_effect.tools.record import TOOLS


@dataclass(frozen=True, slots=True)
class CheckedTools:
    """A package of standard tools that could be read, and the suites that its cases are of."""

    path: Path
    package: ToolPackage
    suites: Mapping[str, Suite]

    def fault(self, keys: tuple[str | int, ...], found: str, hint: str) -> Fault:
        """What is wrong at `keys`, with its line."""
        return Fault(self.path.name, value_line(self.path, keys), found, hint)


@rule("known-tools")
def _known_tools(checked: CheckedTools) -> Iterator[Fault]:
    times = Counter(tool.name for tool in checked.package.tools)
    cases = {case.id for suite in checked.suites.values() for case in suite.cases}
    if checked.package.tracer not in TOOLS:
        yield checked.fault(("tracer",), "no suite has scripts for this tracer", _tracers())
    for place, tool in enumerate(checked.package.tools):
        at = ("tools", place)
        if times[tool.name] > 1:
            yield checked.fault(
                (*at, "name"), f"there are two tools `{printable(tool.name)}`", "describe each tool once"
            )
        if tool.tracer is not None and tool.tracer not in TOOLS:
            yield checked.fault((*at, "tracer"), "no suite has scripts for this tracer", _tracers())
        if tool.case is not None and tool.case not in cases:
            yield checked.fault((*at, "case"), "no suite has this case", "name one of `probe-effect suites`")


@rule("tools-form")
def _tools_form(checked: CheckedTools) -> Iterator[Fault]:
    if checked.path.read_text(encoding="utf-8") != written(checked.package):
        yield Fault(checked.path.name, None, "is not in its one form", "run `probe-effect tools --write`")


@rule("explained-tools")
def _explained_tools(checked: CheckedTools) -> Iterator[Fault]:
    for place, tool in enumerate(checked.package.tools):
        if not tool.probes and tool.remark is None:
            found = f"`{printable(tool.name)}` has no probes, and no remark says why"
            yield checked.fault(("tools", place), found, "add its probes, or a remark")


def _tracers() -> str:
    return f"name one of {', '.join(sorted(TOOLS))}"


RULES = (_known_tools, _tools_form, _explained_tools)
"""Runs in this order over each package."""
