"""`--fail-above` of `probe-effect compare`: which cases keep a change of a tracer from being let through."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from probe_effect import units
from probe_effect.cli import output
from probe_effect.guidance.instruction_change import cost, grown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.cli.compare_instructions_output import CountsCompared
    from probe_effect.guidance.instruction_change import Change, Counted
    from probe_effect.guidance.rows import CaseKey


class Percent(click.ParamType[float]):
    """A share in per cent, with or without its sign, as a ratio: 0.02 for `2%`, `2` and `2.0 %`."""

    name = "percent"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The ratio. Raises: click.BadParameter for anything but a plain number that is not negative."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,6})?) ?%?", value.strip(), re.ASCII)
        if found is None:
            self.fail(f"{value!r} is not a percentage. Expected one such as 2%, 2 or 0.5%.", param, ctx)
        return float(found[1]) / 100


PERCENT = Percent()


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that is not let through, and why."""

    key: CaseKey
    reason: str

    @property
    def words(self) -> str:
        """The case, and why it is not let through."""
        return f"{subject(self.key)} {self.reason}"


def failures(found: CountsCompared) -> list[Failure]:
    """Cases that take more by more than the limit, and those without a sound count in B; none without a limit.

    A case that is faulty in A alone is not among them: nobody broke it since.
    """
    if found.fail_above_ratio is None:
        return []
    limit = units.stated(found.fail_above_ratio, units.SHARE)
    return [
        *(Failure(one.second.key, _growth(one, limit)) for one in grown(found.changes, found.fail_above_ratio)),
        *(Failure(one.second.key, _faulty(one.second)) for one in found.changes if one.second.case.faults),
        *(
            Failure(one.key, f"has no count {found.second_words}: {found.absences[one.key]}")
            for one in found.only_first
        ),
    ]


def exit_status(found: CountsCompared) -> int:
    """1 where a case fails, else 0."""
    return 1 if failures(found) else 0


def show_verdict(found: CountsCompared) -> None:
    """On stderr each case that fails, and how many do; nothing without a limit."""
    if found.fail_above_ratio is None:
        return
    for line in _verdict(found, failures(found)):
        output.progress.print(line, markup=False)


def subject(key: CaseKey) -> str:
    """A case in a sentence."""
    level = "" if key.level is None else f" at level {key.level}"
    return f"{key.case}{level} with {key.tracer}"


def signed_percent(ratio: float | None) -> str:
    """A change in per cent with its sign, to one decimal: `+5.2 %`."""
    if ratio is None:
        return units.MISSING
    text = units.at_place(100 * ratio, -1)
    sign = "+" if ratio > 0 and text != "0.0" else ""
    return f"{sign}{text}{units.GAP}%"


def _verdict(found: CountsCompared, failing: list[Failure]) -> Iterator[str]:
    limit = units.stated(found.fail_above_ratio or 0.0, units.SHARE)
    for one in found.changes:
        if one.first.case.faults and not one.second.case.faults:
            yield f"not compared: {subject(one.first.key)}: {one.reason}"
    yield from (f"fails: {one.words}" for one in failing)
    number = len(found.changes) + len(found.only_first)
    looked_at = f"{number} case{'' if number == 1 else 's'} looked at"
    if failing:
        yield f"{looked_at}, {len(failing)} not let through; --case and --tracer name those to look at"
    else:
        yield f"{looked_at}, none takes more than {limit} more {found.second_words}"


def _growth(one: Change, limit: str) -> str:
    before, after = (units.spread(cost(side), units.INSTRUCTIONS) for side in (one.first, one.second))
    by = f"{units.percent(one.ratio, 3)} more" if one.ratio is not None else "more, and the cost before was not above 0"
    return f"takes {by}: {before} before, {after} now (instructions per event; the limit is {limit})"


def _faulty(one: Counted) -> str:
    return f"has no sound count: {'; '.join(one.case.faults)}"
