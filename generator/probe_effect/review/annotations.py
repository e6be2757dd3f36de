"""Problems as somebody reads them who has one fault to mend, and as annotations of a workflow on GitHub.

Those of one rule in one file are one group: a column with a wrong sign is a problem in each of its rows, and one fault.
GitHub shows each annotation beside its line of a pull request.

Form and escapes: the runner's source (actions/runner, ActionCommand), and
https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from probe_effect.model import Problem
from probe_effect.numbers.once import grouped_by

MOST_LINES = 5

IN_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
IN_PROPERTY = IN_MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})

MOST_OF_A_KIND = 10
"""GitHub shows no more errors of a step, and no more warnings: the last of ours says how many there are besides."""


@dataclass(frozen=True, slots=True)
class ProblemGroup:
    """Problems of one severity: the first of them in full, and the lines of the others."""

    first: Problem
    others: tuple[Problem, ...]

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
    errors_first = sorted(problems, key=lambda one: one.severity != "error")
    alike = grouped_by(errors_first, lambda one: (one.severity, one.rule, one.file)).values()
    return [ProblemGroup(first, tuple(others)) for first, *others in alike]


def annotate(problems: Iterable[Problem]) -> Iterator[str]:
    """A line for each rule that a file breaks, errors first."""
    groups = grouped(problems)
    left = Counter(group.first.severity for group in groups)
    shown: Counter[str] = Counter()
    for group in groups:
        severity = group.first.severity
        shown[severity] += 1
        if shown[severity] < MOST_OF_A_KIND or left[severity] == MOST_OF_A_KIND:
            yield annotation(group)
        elif shown[severity] == MOST_OF_A_KIND:
            more = left[severity] - MOST_OF_A_KIND + 1
            yield f"::{severity} title=and more::{more} more {severity}s of other rules or files: see the log"


def annotation(group: ProblemGroup) -> str:
    """One line: `::error file=data/..,line=3,title=row-order::what is wrong`, with the mend on the message's second."""
    problem = group.first
    places = {"file": problem.file, "line": problem.line, "col": problem.column, "title": problem.rule}
    known = ((name, str(value)) for name, value in places.items() if value is not None)
    properties = ",".join(f"{name}={value.translate(IN_PROPERTY)}" for name, value in known)
    message = f"{group.message}\n{problem.hint}".translate(IN_MESSAGE)
    return f"::{problem.severity} {properties}::{message}"
