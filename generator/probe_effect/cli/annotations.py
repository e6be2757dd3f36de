"""Problems as annotations of a workflow on GitHub, which shows each beside its line of a pull request.

Form and escapes: the runner's source (actions/runner, ActionCommand), and
https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from probe_effect.pages.problem_groups import grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from probe_effect.model import Problem
    from probe_effect.pages.problem_groups import ProblemGroup

IN_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
IN_PROPERTY = IN_MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})

MOST_OF_A_KIND = 10
"""GitHub shows no more errors of a step, and no more warnings: the last of ours says how many there are besides."""


def annotate(problems: Iterable[Problem]) -> Iterator[str]:
    """A line for each rule that a file breaks, errors first."""
    groups = grouped(problems)
    left = Counter(group.severity for group in groups)
    shown: Counter[str] = Counter()
    for group in groups:
        severity = group.severity
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
