"""A review in sections of sentences and tables, and those as Markdown for GitHub: a job's summary, or a comment.

GitHub reads more than Markdown: `@name` tells somebody, `#1` names another pull request, `www.` makes a link. Each is
broken here, because the text may be a stranger's.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from markupsafe import Markup

from probe_effect import units
from probe_effect.intake import report
from probe_effect.intake.report import CaseKey, CaseRow, FileRow, Listed, NearestRow, ReviewReport, SubmissionRow
from probe_effect.model import Estimate
from probe_effect.numbers.index import grouped_by
from probe_effect.site.pages.parts import unclear
from probe_effect.site.pages.text import escape

T = TypeVar("T")
MAX_SUMMARY_BYTES = 1024 * 1024 - 1024  # GitHub takes 1 MiB as a step's summary
MAX_COMMENT_BYTES = 60_000  # GitHub takes 65 536 characters as a comment

NOTICE = re.compile(r"&#(?:64|35);")
"""`@` and `#`, as `escape` writes them."""

WEB = re.compile(r"\bwww\.", re.IGNORECASE)

MOST_OPEN_ROWS = 10
"""Longer tables of a new submission are folded."""

QUANTITIES = {"cost": "costs", "count": "counts of instructions", "figure": "published figures"}


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, sentences below it, and a table; `more` rows are left out. A folded one is opened by its reader."""

    title: str
    lines: Sequence[str] = ()
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    more: int = 0
    level: int = 2
    is_folded: bool = False


def markdown(review: ReviewReport, run: str | None = None) -> str:
    """The whole review, its verdict first; `run`, printed as it is, must be the address of the workflow's run."""
    verdict, *others = sections(review)
    blocks = list(_blocks(verdict))
    if run:
        site = "" if review.errors else ", and the whole site as it would be as its artefact preview"
        blocks.append(f"[The run]({run}) has this review as its summary{site}.")
    if any(section.more for section in others):
        whole = "The run's summary" if run else "probe-effect review origin/main"
        blocks.append(f"Rows are left out so that it fits here. {whole} has all of them.")
    return "\n\n".join([*blocks, *(block for section in others for block in _blocks(section))]) + "\n"


def _blocks(section: Section) -> Iterator[str]:
    yield f"{'#' * section.level} {github_text(section.title)}"
    yield from map(github_text, section.lines)
    if section.is_folded:
        yield f"<details><summary>{len(section.rows) + section.more} rows</summary>"
    if section.rows:
        head, *rows = (f"| {' | '.join(map(github_text, row))} |" for row in (section.head, *section.rows))
        yield "\n".join([head, "|" + ":--|" * len(section.head), *rows])
    if section.head and section.more:
        yield f"{section.more} more rows are left out here."
    if section.is_folded:
        yield "</details>"


def sections(review: ReviewReport) -> Iterator[Section]:
    yield Section(report.title(review), list(report.lines(review)))
    new = "What `probe-effect check` finds, as far as the published data have it not already."
    yield from _table(
        Section("Problems", [new], ("Severity", "Where", "What", "Rule", "To mend it")),
        review.problems,
        lambda problem: (problem.severity, report.place(problem), problem.message, problem.rule, problem.hint),
    )
    if review.submissions.count > 1:
        head = ("Submission", "Grade", "Noise floor", "Rows", "To look at", "Nearest machine")
        yield from _table(Section("New submissions", (), head), review.submissions, _overview)
    for submission in review.submissions.rows:
        yield from _submission(submission)
    if review.submissions.more:
        yield Section("Further submissions", [f"{review.submissions.more} more are left out here."])
    yield from _table(
        Section("New entries in the change log", (), ("Day", "Kind", "What", "Old", "New", "Why")),
        review.changes,
        lambda change: (
            *(change.date, change.kind, ", ".join(change.what) + (f" and {change.more} more" if change.more else "")),
            *(change.old or "", change.new or "", change.why),
        ),
    )
    yield from _numbers(review)
    yield from _table(
        Section("New published sources", (), ("Source", "Title", "Figures")),
        review.sources,
        lambda source: (source.id, source.title, units.count(source.figures)),
    )
    yield from _files(review.files)


def _table(section: Section, listing: Listed[T], cells: Callable[[T], Sequence[str]]) -> Iterator[Section]:
    """`section` with a row for each thing that was found; none where there is nothing."""
    if listing.count:
        yield replace(section, rows=[cells(row) for row in listing.rows], more=listing.more)


def _overview(submission: SubmissionRow) -> tuple[str, ...]:
    near = submission.nearest.name if submission.nearest else units.MISSING
    counts = (submission.cases.count, sum(row.is_odd for row in submission.remarks.rows))
    return (
        submission.id,
        submission.grade or units.MISSING,
        units.duration(submission.noise_floor_ns, 2),
        *map(units.count, counts),
        near,
    )


def _submission(submission: SubmissionRow) -> Iterator[Section]:
    who = f", measured by {submission.submitter}" if submission.submitter else ""
    blocks = report.number(submission.blocks, "block")
    lines = [f"{submission.name}, {submission.tier}; suite {submission.suite}, {blocks}{who}."]
    if submission.grade:
        reasons = f" ({'; '.join(submission.grade_reasons)})" if submission.grade_reasons else ""
        floor, baseline = units.duration(submission.noise_floor_ns, 2), units.duration(submission.baseline_ns)
        lines.append(f"Grade {submission.grade}{reasons}; noise floor {floor}, untraced operation {baseline}.")
    yield Section(submission.id, [*lines, *([ATTESTED] if submission.of_project else []), *submission.shows])
    odd = [row for row in submission.remarks.rows if row.is_odd]
    noisy = [row for row in submission.remarks.rows if not row.is_odd]
    for title, remarks, more in (("To look at", odd, 0), ("Noisy cases", noisy, submission.remarks.more)):
        if remarks or more:
            words = [(_subject(row), row.tracer, row.words) for row in remarks]
            yield _folded(Section(title, (), ("Case", "Tracer", "What"), words, more, level=3))
    # The cases without a number, by what kept them from having one.
    without = (row for row in submission.cases.rows if row.status != "ok")
    reasons_of = grouped_by(without, lambda row: f"{row.status}: {row.note or units.MISSING}")
    missing = [
        f"{', '.join(f'{_subject(row)} with {row.tracer}' for row in own)}: {reason}."
        for reason, own in reasons_of.items()
    ]
    column = "Cost of one event (95 %)" if submission.metric == "time" else "Instructions per event (range)"
    head = ("Case", "Tracer", column, "Lost", "Blocks", "Grade", "Others print", "Estimated")
    rows = [
        (
            *(_subject(row), row.tracer, _cost(row), units.percent(row.loss_ratio), units.count(row.blocks)),
            *(row.grade or units.MISSING, row.printed or "", row.estimated or ""),
        )
        for row in submission.cases.rows
        if row.status == "ok"
    ]
    yield _folded(Section("New rows", missing, head, rows, submission.cases.more, level=3))
    yield _folded(_nearest(submission.nearest))


ATTESTED = (
    "machine.json says that the project itself ran this, and nothing in these files proves it. For what a workflow of "
    "the project made, `gh attestation verify FILE --repo OWNER/REPOSITORY` does (/method/checks/#signed-runs)."
)


def _files(files: Listed[FileRow]) -> Iterator[Section]:
    """What is of no new submission, which somebody has to look at; then the files of new submissions."""
    for title, beside in (("Files beside new submissions", True), ("Files of new submissions", False)):
        rows = [(row.change, row.path) for row in files.rows if row.beside is beside]
        more = 0 if beside else files.more
        section = Section(title, (), ("Change", "File"), rows, more, is_folded=True)
        if rows or more:
            yield _folded(section) if beside else section


def _folded(section: Section) -> Section:
    """The section, folded where its table is long, because its sentences have the summary."""
    return replace(section, is_folded=len(section.rows) + section.more > MOST_OPEN_ROWS)


def _cost(row: CaseRow) -> str:
    if row.cost_ns is not None:
        if row.distinguishable is False:
            return unclear(row.cost_high_ns, row.noise_floor_ns)
        return units.interval(Estimate(row.cost_ns, row.cost_low_ns, row.cost_high_ns), units.DURATION)
    if row.cost_instructions is not None:
        cost = Estimate(row.cost_instructions, row.cost_least_instructions, row.cost_greatest_instructions)
        return units.spread(cost, units.INSTRUCTIONS)
    return row.status


def _subject(row: CaseKey) -> str:
    return row.case if row.level is None else f"{row.case} ({row.level})"


def _nearest(machine: NearestRow | None) -> Section:
    section = Section("Nearest machine", ["No published machine has numbers of this kind."], level=3)
    if machine is None:
        return section
    same = f"{machine.name}: {', '.join(machine.reasons)}."
    if not machine.comparable:
        return replace(section, lines=[f"None to compare with. The nearest is {same}"])
    if not machine.compared.count:
        return replace(section, lines=[same, "No case with the same tracer on both."])
    head = ("Case", "Tracer", "There", "Here", "Difference", "Ratio", "Outcome")
    rows = [
        (_subject(row), row.tracer, row.before, row.after, row.difference, row.ratio, row.outcome)
        for row in machine.compared.rows
    ]
    return Section("Nearest machine", [same, *machine.sentences], head, rows, machine.compared.more, level=3)


def _numbers(review: ReviewReport) -> Iterator[Section]:
    """Numbers of one kind to a table; what replaces or ends something published comes first, and is not folded.

    The numbers of a new submission are in its own rows.
    """
    numbers, told = review.numbers, tuple(f"{submission.id}/" for submission in review.submissions.rows)
    for kind, noun in QUANTITIES.items():
        rows = [row for row in numbers.rows if row.kind == kind and not row.id.startswith(told)]
        replaced = [(row.id, row.old, row.new or "gone") for row in rows if row.old is not None]
        added = [(row.id, row.new or "") for row in rows if row.old is None]
        if replaced:
            yield Section(f"Changed or gone: {noun}", (), ("Number", "Old", "New"), replaced)
        if added:
            yield Section(f"Added: {noun}", (), ("Number", "Value"), added, is_folded=True)
    if numbers.more:
        lines = [f"{units.count(numbers.more)} more are left out here, those of the new submissions among them."]
        yield Section("Further numbers", lines)


def github_text(value: object) -> Markup:
    """`value` as text that GitHub shows, and does nothing else with."""
    if isinstance(value, Markup):
        return value
    quiet = NOTICE.sub(lambda match: f"{match[0]}&#8203;", str(escape(value)))
    return Markup(WEB.sub(lambda match: f"{match[0][:-1]}&#46;", quiet))  # noqa: S704 (this is the escaping)
