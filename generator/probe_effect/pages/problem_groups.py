"""Problems as somebody reads them who has one fault to mend: those of one rule in one file are told once.

A column with a wrong sign is a problem in each of its rows, and one fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from probe_effect.model import Problem, Severity

MOST_LINES = 5


@dataclass(frozen=True, slots=True)
class ProblemGroup:
    """The first of them in full, and the lines of the others."""

    first: Problem
    others: tuple[Problem, ...]

    @property
    def severity(self) -> Severity:
        """The severity of the group's problems, which all have the same."""
        return self.first.severity

    @property
    def times(self) -> int:
        """How many they are."""
        return 1 + len(self.others)

    @property
    def message(self) -> str:
        """What is wrong in the first, and where else: `.. (and 37 more like it, in lines 14, 15, 16, ..)`."""
        if not self.others:
            return self.first.message
        lines = [str(one.line) for one in self.others if one.line is not None]
        shown = ", ".join(lines[:MOST_LINES]) + (", .." if len(lines) > MOST_LINES else "")
        where = f", in line{'s' if len(lines) > 1 else ''} {shown}" if lines else ""
        return f"{self.first.message} (and {len(self.others)} more like it{where})"


def grouped(problems: Iterable[Problem]) -> list[ProblemGroup]:
    """Errors first, else in the order in which they were found."""
    found: dict[tuple[str, str, str], list[Problem]] = {}
    for one in sorted(problems, key=lambda one: one.severity != "error"):
        found.setdefault((one.severity, one.rule, one.file), []).append(one)
    return [ProblemGroup(first, tuple(others)) for first, *others in found.values()]
