"""What `probe-effect submit` shows of the numbers before it sends them: beside the nearest machine, and their grade."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from probe_effect import units
from probe_effect.cli import output
from probe_effect.cli.tables import show_section
from probe_effect.compare.comparison import Comparison
from probe_effect.compare.subjects import Nearest, nearest
from probe_effect.errors import BadData
from probe_effect.numbers.catalogue import read_numbers
from probe_effect.pages import comparison, instructions
from probe_effect.reduce.grades import remedies
from probe_effect.reduce.reading import read_submission
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.places import PACKAGED, DataFolder
from probe_effect.submit.bundle import Item


def show_numbers(items: Sequence[Item], data: DataFolder, checkout: Path | None) -> None:
    """On the side, the numbers of each of `items` against those of the nearest machine, and their grades.

    Outside a clone they are compared with the data that came with the program. What cannot be read is said, and stops
    nothing: the check has passed before.
    """
    known = _published(items, data if checkout else DataFolder(PACKAGED, data.kept))
    read = (read_submission(item.submission, data, []) for item in items)
    submissions = [one for one in read if one is not None]
    for one in submissions:
        _show(one, known)
    show_section("Grades, and what would better them", _grades(submissions), aside=True)


def _published(items: Iterable[Item], data: DataFolder) -> Sequence[Submission]:
    """What there is to compare with: all that is complete, without what is to be sent."""
    ours = {item.submission.id for item in items}
    complete = [one for one in data.submissions() if one.id not in ours and not one.plan_file.exists()]
    try:
        return read_numbers(data, complete).active
    except BadData as error:
        output.say(f"{data.root}: cannot be read, so there is nothing to compare with: {error.problems[0].message}")
        return ()


def _show(submission: Submission, known: Sequence[Submission]) -> None:
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
        return f"< {units.duration(one.noise_floor_ns, 2)}"
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
