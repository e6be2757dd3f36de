"""What `probe-effect review` and `review-comment` print: for people, as Markdown for GitHub, or as JSON."""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from rich.text import Text

from probe_effect.checks.afterwards import new_problems
from probe_effect.cli import output
from probe_effect.cli.tables import console, show_table
from probe_effect.errors import BadData, UsageError
from probe_effect.model import Problem
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.review.changes import review as review_of
from probe_effect.review.mending import annotate
from probe_effect.review.report import MAX_REPORT_BYTES, ReviewReport, fitted
from probe_effect.review.revisions import State
from probe_effect.review.rows import report_of
from probe_effect.review.sections import MAX_COMMENT_BYTES, MAX_SUMMARY_BYTES, markdown, sections
from probe_effect.store.documents import read_document
from probe_effect.store.tables import printable
from probe_effect.store.version import difference

RUN = re.compile(r"https://[\w.-]+(:\d+)?/[\w.-]+/[\w.-]+/actions/runs/\d+")


def review(base: State, head: State, output_format: str, report_file: Path | None, summary_file: Path | None) -> bool:
    """Print what `head` would change in `base`, and write it; whether it is free of new errors. Raises: BadData."""
    found, problems = _found(base, head)
    if output_format == "json":
        output.product(_json(found))
    elif output_format == "markdown":
        output.product(_markdown(found))
    elif output_format == "github":
        # The log has every problem, and GitHub's list of annotations each fault once.
        output.show_problems(problems)
        for line in annotate(problems):
            output.product(line)
        errors = sum(problem.severity == "error" for problem in problems)
        output.product(f"{errors} new errors, {len(problems) - errors} new warnings")
    else:
        _show(found)
    # At the end, so that a review that fails leaves no file that only looks like one.
    if report_file:
        report_file.parent.mkdir(parents=True, exist_ok=True)
        report_file.write_text(_json(found) + "\n", encoding="utf-8")
    if summary_file:
        with summary_file.open("a", encoding="utf-8") as file:
            file.write(_markdown(found))
    return not found.errors


def comment(file: Path, commit: str | None, run: str | None) -> None:
    """Print a comment made of a review as JSON. Raises: BadData where the file is none, UsageError."""
    if run is not None and not RUN.fullmatch(run):
        msg = f"{printable(run)}: is no address of a run. Expected one such as https://github.com/o/r/actions/runs/1."
        raise UsageError(msg)
    found, problems = read_document(file, file.name, "review", ReviewReport, MAX_REPORT_BYTES)
    if found is None:
        raise BadData(problems)
    if commit is not None:
        found = found.model_copy(update={"head": f"commit {printable(commit)}"})
    output.product(fitted(found, partial(markdown, run=run), MAX_COMMENT_BYTES))


def _found(base: State, head: State) -> tuple[ReviewReport, Sequence[Problem]]:
    """The review, and all problems that it tells in groups."""
    files = difference(base.data, head.data)
    new = new_problems(files)
    refused = {one.file for one in head.refused}  # were not taken over, so that they seem to be missing
    problems = (*head.refused, *(one for one in new.all if one.file not in refused))
    found = review_of(read_catalogue(base.data), head.data, files, _unsound(new.of_state))
    return report_of(found, problems, base.name, head.name), problems


def _json(found: ReviewReport) -> str:
    return fitted(found, ReviewReport.model_dump_json, MAX_REPORT_BYTES)


def _markdown(found: ReviewReport) -> str:
    return fitted(found, markdown, MAX_SUMMARY_BYTES)


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
        console().print(Text(section.title, style="bold"))
        for line in section.lines:
            console().print(Text(line))
        if section.rows:
            show_table(section.head, (), section.rows)
        if section.head and section.more:
            output.product(f"{section.more} more")
        output.product("")
