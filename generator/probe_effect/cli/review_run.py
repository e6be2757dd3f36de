"""What `probe-effect review` and `review-comment` print: for people, as Markdown for GitHub, or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from probe_effect.checks.against_base import new_problems
from probe_effect.cli import output
from probe_effect.cli.tables import console, show_table
from probe_effect.compare.review import review as review_of
from probe_effect.errors import BadData
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.pages.review import MAX_COMMENT_BYTES, MAX_SUMMARY_BYTES, markdown, sections
from probe_effect.pages.review_report import MAX_REPORT_BYTES, ReviewReport, fitted
from probe_effect.pages.review_rows import report
from probe_effect.store.difference import difference
from probe_effect.store.documents import read_document

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from probe_effect.cli.revisions import State
    from probe_effect.model import Problem


def review(base: State, head: State, output_format: str) -> bool:
    """Print what `head` would change in `base`; whether it is free of new errors. Raises: BadData."""
    found = _report(base, head)
    if output_format == "json":
        output.product(fitted(found, ReviewReport.model_dump_json, MAX_REPORT_BYTES))
    elif output_format == "markdown":
        output.product(fitted(found, markdown, MAX_SUMMARY_BYTES))
    else:
        _show(found)
    return all(problem.severity != "error" for problem in found.problems.rows)


def comment(file: Path) -> None:
    """Print a comment made of a review as JSON. Raises: BadData where the file is none."""
    found, problems = read_document(file, file.name, "review", ReviewReport, MAX_REPORT_BYTES)
    if found is None:
        raise BadData(problems)
    output.product(fitted(found, markdown, MAX_COMMENT_BYTES))


def _report(base: State, head: State) -> ReviewReport:
    files = difference(base.data, head.data)
    problems = new_problems(files)
    found = review_of(read_catalogue(base.data), head.data, files, _unsound(problems.of_state))
    return report(found, (*head.refused, *problems.all), base.name, head.name)


def _unsound(problems: Iterable[Problem]) -> set[str]:
    """The submissions and sources with an error, by id; both are the first names below their folder."""
    depths = {"results": 2, "published": 1}
    found = set()
    for problem in problems:
        _, part, *names = f"{problem.file}//".split("/")
        if problem.severity == "error" and part in depths:
            found.add("/".join(names[: depths[part]]))
    return found


def _show(found: ReviewReport) -> None:
    for section in sections(found):
        console.print(Text(section.title, style="bold"))
        for line in section.lines:
            console.print(Text(line))
        if section.rows:
            show_table(section.head, (), section.rows)
        if section.head and section.more:
            output.product(f"{section.more} more")
        output.product("")
