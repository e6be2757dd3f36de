"""The page of standard tools: a row for each, with a cost or why there is none, and nothing that data could break."""

from __future__ import annotations

import html
import itertools
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from probe_effect import units
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.site.pages import tracer_page
from probe_effect.store.transcripts import StandardTool, ToolPackage, ToolProbes

if TYPE_CHECKING:
    from collections.abc import Sequence

PLACE = re.compile(r"\[([^\]]*)\]\(#=[^)]*\)")
"""What can be linked to in a cell."""

HOSTILE = 'x | <script>alert(1)</script> {{< number "a" >}} `b` [c](javascript:d)'


@pytest.fixture(scope="module")
def page(catalogue: Catalogue) -> str:
    return "\n".join(tracer_page.write(catalogue).values())


def item(page: str, tool: str) -> list[str]:
    """The lines of the list that say what a tool asks and attaches."""
    lines = html.unescape(page).splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith(f"- {tool}: "))
    inside = (line.strip() for line in itertools.takewhile(lambda one: one.startswith("    - "), lines[start + 1 :]))
    return [lines[start], *inside]


def rows(page: str, tool: str) -> list[list[str]]:
    """The cells of the rows of a tool, as a reader sees them."""
    found = (PLACE.sub(r"\1", html.unescape(line)) for line in page.splitlines() if line.startswith("|"))
    cells = ([cell.strip() for cell in line.strip("|").split(" |")] for line in found)
    return [row for row in cells if re.match(rf"{re.escape(tool)}(:|$)", row[0])]


def test_each_tool_can_be_linked_to_by_its_name_and_by_the_name_that_people_use(page: str) -> None:
    places = re.findall(r"\(#=(.*?)\)", html.unescape(page))
    assert len(places) == len(set(places))
    assert {"opensnoop", "opensnoop.bt", "opensnoop-bpfcc", "iosnoop", "iosnoop-perf"} <= set(places)


def test_every_tool_of_every_package_has_a_cost_or_a_named_reason(page: str, catalogue: Catalogue) -> None:
    assert len(catalogue.tools) == 3
    for package in catalogue.tools:
        for tool in package.tools:
            first = rows(page, tool.name)[0]
            assert re.search(r", (measured|composed|estimated|published)$|fired by a clock|no time of ", first[1]), (
                first
            )


def test_no_tool_of_bpftrace_is_without_a_cost_but_those_that_a_clock_fires(page: str, catalogue: Catalogue) -> None:
    (package,) = (one for one in catalogue.tools if one.package == "bpftrace")
    without = [tool.name for tool in package.tools if "fired by a clock" in rows(page, tool.name)[0][1]]
    assert without == ["cpuwalk.bt", "loads.bt", "runqlen.bt"]
    assert "no time of" not in "".join(rows(page, tool.name)[0][1] for tool in package.tools)


def test_a_rate_that_nobody_states_is_said_to_be_none(page: str) -> None:
    assert rows(page, "runqlat.bt")[0][3] == "none stated"
    assert rows(page, "opensnoop.bt")[0][3] == f"up to 1{units.GAP}k/s (opensnoop.bt(8))"
    assert rows(page, "syscount.bt")[0][3] == f"from 10{units.GAP}k/s to 50{units.GAP}k/s (syscount.bt(8))"


def test_what_was_measured_in_real_programs_stands_beside_what_is_predicted(page: str) -> None:
    measured = [row for row in rows(page, "opensnoop.bt") if "/results/" in row[3]]
    assert {"git", "nginx", "tar"} <= {row[1] for row in measured}


def test_each_tool_has_its_question_its_probes_and_what_it_does_at_each(page: str) -> None:
    question, entry, end = item(page, "opensnoop.bt")
    assert question == "- opensnoop.bt: Which files are opened, by whom, and with what result?"
    assert entry == "- tracepoint:syscalls:sys_enter_open, tracepoint:syscalls:sys_enter_openat: count-by-pid"
    assert end.endswith("sys_exit_openat: print, count-by-string, count-by-pid; behind a condition")


def test_a_cost_that_stands_in_says_so(page: str) -> None:
    assert rows(page, "syscount-bpfcc")[0][1].endswith("estimated")
    assert "bcc was not measured" in page


def hostile(texts: Sequence[str] = (HOSTILE,)) -> ToolPackage:
    (text,) = texts
    probes = ToolProbes(attach=(text,), kind="tracepoint-entry", actions=("count",), unknown=(text,))
    tool = StandardTool(
        name="evil", answers=text, event=text, remark=text, usual_to_hz=1.0, usual_source=text, probes=(probes,)
    )
    return ToolPackage(
        schema_version=1,
        title=text,
        package="us",
        version="1",
        where=text,
        tracer="bpftrace",
        stands_in=text,
        tools=(tool,),
    )


def test_what_data_say_is_text_and_nothing_else(catalogue: Catalogue) -> None:
    page = "".join(tracer_page.write(replace(catalogue, tools=(hostile(),))).values())
    assert "alert" in page
    for markup in ("<script>", "{{<", "`b`", "](javascript:"):
        assert markup not in page


def test_before_anything_is_measured_it_says_so() -> None:
    assert tracer_page.write(Catalogue(tools=(hostile(),)))["tools.md"] == "Nothing has been measured yet.\n"
