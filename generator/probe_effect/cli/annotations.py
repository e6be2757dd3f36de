"""Problems as commands of a workflow on GitHub, which shows them beside the lines of a pull request.

Form and escapes: https://docs.github.com/actions/reference/workflow-commands-for-github-actions and the runner's source
(actions/runner, ActionCommand).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probe_effect.model import Problem

IN_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
IN_PROPERTY = IN_MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def annotation(problem: Problem) -> str:
    """One line: `::error file=data/..,line=3,title=row-order::what is wrong`, with the mend on the message's second."""
    places = {"file": problem.file, "line": problem.line, "col": problem.column, "title": problem.rule}
    known = ((name, str(value)) for name, value in places.items() if value is not None)
    properties = ",".join(f"{name}={value.translate(IN_PROPERTY)}" for name, value in known)
    message = f"{problem.message}\n{problem.hint}".translate(IN_MESSAGE)
    return f"::{problem.severity} {properties}::{message}"
