"""What `probe-effect review` and `submit` print of a change of the data: for people, as JSON, as a comment."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from rich.text import Text

from probe_effect import units
from probe_effect.checks.changes import change_size
from probe_effect.checks.rule import broken, names_in
from probe_effect.checks.run import new_problems
from probe_effect.cli import output
from probe_effect.cli.tables import console, show_section, show_table
from probe_effect.compare.comparison import Comparison
from probe_effect.compare.subjects import Nearest, nearest
from probe_effect.errors import BadData, UsageError
from probe_effect.model import Problem
from probe_effect.numbers.catalogue import read_catalogue, read_numbers
from probe_effect.pages import comparison, instructions
from probe_effect.reduce.reading import read_submission
from probe_effect.reduce.submission import Number, Submission, remedies
from probe_effect.review.changes import Review, report_of
from probe_effect.review.changes import review as review_of
from probe_effect.review.report import MAX_REPORT_BYTES, ReviewReport, annotate, fitted
from probe_effect.review.revisions import State
from probe_effect.review.sections import MAX_COMMENT_BYTES, MAX_SUMMARY_BYTES, github_text, markdown, sections
from probe_effect.review.shows import over_releases
from probe_effect.store.documents import read_document
from probe_effect.store.places import PACKAGED, DataFolder
from probe_effect.store.release_file import difference
from probe_effect.store.tables import printable
from probe_effect.submit.bundle import Item

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
    if too_many := broken([change_size], files, names_in(head.data.root, head.data)):
        return report_of(Review(files, (), (), (), ()), too_many, base.name, head.name), too_many
    of_state, of_change = new_problems(files)
    errors_first = sorted((*of_change, *of_state), key=lambda one: one.severity != "error")
    refused = tuple(one for one in head.refused if one not in base.refused)
    unread = {one.file for one in head.refused}  # were not taken over, so that they seem to be missing
    problems = (*refused, *(one for one in errors_first if one.file not in unread))
    found = review_of(read_catalogue(base.data), head.data, files, _unsound(of_state))
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


def show_numbers(items: Sequence[Item], data: DataFolder, checkout: Path | None) -> None:
    """On the side, the numbers of each of `items` against those of the nearest machine, and their grades.

    Outside a clone they are compared with the data that came with the program. What cannot be read is said, and stops
    nothing: the check has passed before.
    """
    known = _published(items, data if checkout else DataFolder(PACKAGED, data.kept))
    read = (read_submission(item.submission, data, []) for item in items)
    submissions = [one for one in read if one is not None]
    for one in submissions:
        _show_beside(one, known)
    show_section("Grades, and what would better them", _grades(submissions), aside=True)


def series_list(items: Iterable[Item], data: DataFolder) -> str:
    """What the counts among `items` change in the series over releases, as a list in Markdown.

    It is empty where other data cannot be read, which `show_numbers` has said.
    """
    ours = {item.submission.id for item in items if item.document.run.metric == "instructions"}
    try:
        known = read_numbers(data, [one for one in data.submissions() if not one.plan_file.exists()] if ours else [])
    except BadData:
        return ""
    lines = (line for one in known.active if one.id in ours for line in over_releases(one, known))
    return "".join(f"- {github_text(line)}\n" for line in lines)


def _published(items: Iterable[Item], data: DataFolder) -> Sequence[Submission]:
    """What there is to compare with: all that is complete, without what is to be sent."""
    ours = {item.submission.id for item in items}
    complete = [one for one in data.submissions() if one.id not in ours and not one.plan_file.exists()]
    try:
        return read_numbers(data, complete).active
    except BadData as error:
        output.say(f"{data.root}: cannot be read, so there is nothing to compare with: {error.problems[0].message}")
        return ()


def _show_beside(submission: Submission, known: Sequence[Submission]) -> None:
    measured = [one for one in submission.numbers if one.cost is not None]
    if measured:
        found = nearest(submission, known)
        show_section(f"{submission.id}: cost of one event", _table(measured, found), aside=True)
        show_section("Against the nearest machine", _against(found), aside=True)


def _grades(submissions: Iterable[Submission]) -> Iterator[tuple[str, str]]:
    """The grade of each, then each reason once, with what would better it; a count of instructions has none."""
    graded = [one for one in submissions if one.grade]
    yield from ((one.grade or "", one.files.folder.name) for one in graded)
    for reason, remedy in remedies(dict.fromkeys(reason for one in graded for reason in one.grade_reasons)):
        yield "because", reason
        yield "", f"better: {remedy}"


def _table(numbers: Iterable[Number], found: Nearest | None) -> Iterator[tuple[str, ...]]:
    """A row for each number, below a row for each tracer, so that it fits a terminal of 80 columns."""
    compared = {one.second.key: one for one in found.comparisons} if found else {}
    yield "", "here", "there" if compared else "", "difference (95 %)" if compared else ""
    tracer = None
    for one in sorted(numbers, key=lambda one: (one.tracer, one.key.order)):
        if one.tracer != tracer:
            tracer = one.tracer
            yield f"with {tracer}", "", "", ""
        yield (one.case if one.level is None else f"{one.case} ({one.level})", *_cells(one, compared.get(one.key)))


def _cells(here: Number, found: Comparison | None) -> tuple[str, str, str]:
    if found is None:
        return _brief(here), "", ""
    if not found.is_clear:
        return _brief(here), _brief(found.first), found.outcome
    return _brief(here), _brief(found.first), comparison.cells(found)[0] if here.is_time else instructions.change(found)


def _brief(one: Number) -> str:
    """The cost without its interval, which the page has."""
    assert one.cost is not None
    if not one.is_time:
        return units.quantity(one.cost.value, units.INSTRUCTIONS)
    if one.distinguishable is False:
        return f"< {units.duration(one.time.noise_floor_ns, 2)}"
    return units.value(one.cost, units.DURATION)


def _against(found: Nearest | None) -> Iterator[tuple[str, str]]:
    """The machine that it is compared with and why, and a summary of the comparisons."""
    if found is None:
        yield "there", "no published machine has such numbers"
        return
    yield "there", found.likeness.name
    yield "its kind", ", ".join(found.likeness.reasons)
    if not found.likeness.comparable:
        yield "in all", "times of such different machines are never compared"
    elif found.comparisons and found.comparisons[0].first.is_time:
        yield "in all", comparison.summary(found.comparisons, "here")
