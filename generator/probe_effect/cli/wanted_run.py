"""What `probe-effect wanted` prints, as tables or as JSON.

The JSON has `machines`: `machine`, `cases`, `first` and `suite` of each kind that lacks cases; `kernels`; `uncounted`;
and `here`: `suite`, `cases`, `first`, `own`, `blocks`, `is_quick` and `minutes` of each suite, the most wanted first.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from probe_effect.cli import output
from probe_effect.cli.lend_plan import known_numbers, turns_here, works_here
from probe_effect.cli.tables import show_section, show_table
from probe_effect.host.mounts import mount_for_our_time
from probe_effect.store.places import DataFolder
from probe_effect.store.suite_file import Case
from probe_effect.wanted.lacking import LackingCases, lacking, uncounted, untimed_kernels
from probe_effect.wanted.order import Turn, fitted

MINUTE_S = 60


def run(data: DataFolder, minutes: int | None, output_format: str) -> None:
    """Print what is wanted; with `minutes`, of this machine only what fits. Raises: BadData."""
    mount_for_our_time()
    catalogue = known_numbers(data, data.results)
    turns = turns_here(catalogue, works_here(data))
    turns = turns if minutes is None else fitted(turns, minutes * MINUTE_S)
    kernels, without = untimed_kernels(catalogue), uncounted(catalogue)
    if output_format == "json":
        machines, here = [_kind(one) for one in lacking(catalogue)], [_turn(one) for one in turns]
        ids = {suite: [case.id for case in cases] for suite, cases in without.items()}
        output.product_json({"machines": machines, "kernels": kernels, "uncounted": ids, "here": here})
        return
    rows = ([str(one) for one in _kind(kind).values()] for kind in lacking(catalogue))
    show_table(["machine"], ["cases without a time", "of which no machine has one"], rows, ["begin with"])
    output.product("")
    show_section("Counted, and not timed", [("kernels", ", ".join(kernels))] if kernels else [])
    show_section("Without a count", _suites(without))
    show_turns("This machine, the most wanted first", turns)


def _kind(one: LackingCases) -> dict[str, Any]:
    return {"machine": one.words, "cases": _number(one.cases), "first": _number(one.first), "suite": one.suite}


def _number(cases: Mapping[str, Sequence[Case]]) -> int:
    return sum(map(len, cases.values()))


def _suites(cases: Mapping[str, Sequence[Case]]) -> Iterator[tuple[str, str]]:
    return ((suite, ", ".join(case.id for case in own)) for suite, own in cases.items())


def _turn(one: Turn) -> dict[str, Any]:
    parts = {name: getattr(one, name) for name in ("suite", "cases", "first", "own", "blocks", "is_quick")}
    return {**parts, "minutes": round(one.takes_s / MINUTE_S, 1)}


def show_turns(title: str, turns: Iterable[Turn], *, aside: bool = False) -> None:
    """Each suite with how long it takes, and what is new in it."""
    show_section(title, map(_row, turns), aside=aside)


def _row(one: Turn) -> tuple[str, ...]:
    how = f"{one.blocks} blocks{', quick' if one.is_quick else ''}"
    first = f", {len(one.first)} that no machine has" if one.first else ""
    new = f"{len(one.own)} new on such a machine{first}" if one.own else "such a machine has all of them"
    return one.suite, f"{max(1, round(one.takes_s / MINUTE_S))} min, {how}", f"{one.cases} cases, {new}"
