"""What a review comes to: its verdict, the first thing to mend, and who does what next."""

from collections.abc import Iterator

from probe_effect import units
from probe_effect.review.report import ProblemRow, ReviewReport

MEND = (
    "Next: mend what is under Problems and push to the same branch; the review is then made again. "
    "probe-effect review origin/main says the same before you push."
)
LOOK = "Next: the submitter says in the pull request why it is so, or measures again; a maintainer decides."
MERGE = "Next: a maintainer merges it, and its pages follow within minutes. The submitter has nothing left to do."


def title(report: ReviewReport) -> str:
    """The verdict, in a few words."""
    if report.errors:
        return f"{number(report.errors, 'error')} to mend"
    if not _changes(report):
        return "Nothing changes in the data"
    found = [(report.warnings, "warning"), (report.odd_cases, "odd case")]
    to_look_at = [number(count, noun) for count, noun in found if count]
    return f"To look at: {' and '.join(to_look_at)}" if to_look_at else "Ready to merge"


def lines(report: ReviewReport) -> Iterator[str]:
    """The first error in full, what the review is of and how much there is, and the next step."""
    first = next((one for one in report.problems.rows if one.severity == "error"), None)
    if first is not None:
        yield f"{place(first)}: {first.message} [{first.rule}]. To mend it: {first.hint}."
    yield f"{report.head[:1].upper()}{report.head[1:]} against {report.base}: {_told(report)}."
    if report.errors:
        yield MEND
    elif report.warnings or report.odd_cases:
        yield LOOK
    elif _changes(report):
        yield MERGE


def place(one: ProblemRow) -> str:
    """File, line and column, as far as they are known."""
    return ":".join(str(part) for part in (one.file, one.line, one.column) if part is not None)


def number(count: int, noun: str) -> str:
    """A count with its noun: `1 file`, `3 numbers that differ`."""
    first, blank, rest = noun.partition(" that ")
    several = f"{first}s{blank}{rest.replace('differs', 'differ')}"
    return f"{units.count(count)} {noun if count == 1 else several}"


def _changes(report: ReviewReport) -> bool:
    return bool(report.files.count or report.problems.count)


def _told(report: ReviewReport) -> str:
    if not _changes(report):
        return "nothing"
    counted = (
        (report.submissions.count, "new submission"),
        (report.numbers.count, "number that differs"),
        (report.errors, "error"),
        (report.warnings, "warning"),
        (report.files.count, "file"),
    )
    return ", ".join(number(count, noun) for count, noun in counted if count)
