"""What a change of the data would publish, and what a new submission shows that somebody should look at first.

A cost is out of range where its whole interval lies beyond `RANGE_FACTOR` times the highest, or below the lowest by as
much, of what like machines have for the same case, tool and level. With few machines a range is all that can be said.

The model of estimates is on trial with every machine that times what was estimated (/method/estimates/).
A case is estimated from the machine's other kinds of probe, and the interval is the one that was known before.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeVar, get_args

from probe_effect import units
from probe_effect.compare.agreement import of_case
from probe_effect.compare.comparison import Comparison
from probe_effect.compare.kernels import LEAST_CHANGE_RATIO, series, series_changes
from probe_effect.compare.subjects import nearest, of_kind
from probe_effect.costs.evidence import evidence_of
from probe_effect.costs.from_counts import judged, models
from probe_effect.intake import report
from probe_effect.intake.report import MAX_FEW, MAX_LINE, D, Listed, ReviewReport, grouped, is_writable
from probe_effect.model import Estimate, Key, Problem, interval_json, spread_json
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource, read_published, read_submissions
from probe_effect.numbers.index import current, grouped_by
from probe_effect.numbers.names import tool_of
from probe_effect.numbers.shown import facts_of_submission, likeness
from probe_effect.numbers.submission import Number, Submission
from probe_effect.site.pages import comparison, instructions, kernel_changes, parts
from probe_effect.store.beside_files import Figure, changed_ids, read_changes
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.release_file import TreeDifference
from probe_effect.store.tables import printable

RANGE_FACTOR = 2.0
"""Our choice: CPUs of one instruction set differ by as much, and a wrong unit or a wrong probe by far more."""

NEGATIVE = "less than no tracing, beyond the noise floor: nothing that a tracer does explains that"


def remarks(new: Submission, submissions: Iterable[Submission]) -> list[report.RemarkRow]:
    """What is to be looked at in each case of a submission, beside those published; what may be wrong comes first."""
    own, others = facts_of_submission(new), of_kind(new, submissions).values()
    comparable = (runs for runs in others if likeness(own, facts_of_submission(runs[0])).comparable)
    like = [list(current(runs).values()) for runs in comparable]
    rows = []
    for number in new.numbers:
        odd = [*_out_of_range(number, like), *(() if number.is_time else number.faults)]
        if number.is_time and number.distinguishable and number.known_cost.value < 0:
            odd.append(NEGATIVE)
        # The reasons of the whole submission are with its grade.
        reasons = [reason for reason in number.grade_reasons if reason not in new.grade_reasons]
        noise = [*(reasons if number.is_time else ()), *([number.note] if number.note and number.blocks else ())]
        if odd or noise:
            rows.append(_row(report.RemarkRow, number.key, words="; ".join([*odd, *noise]), is_odd=bool(odd)))
    return sorted(rows, key=lambda row: not row.is_odd)


def _out_of_range(number: Number, machines: Iterable[Sequence[Number]]) -> Iterator[str]:
    own, others = extent(number), []
    wanted = number.case, tool_of(number.tracer), number.level
    for numbers in machines:  # the first cost of each for the same case, tool and level
        same = (other for other in numbers if (other.case, tool_of(other.tracer), other.level) == wanted)
        others += [cost for other in same if (cost := extent(other)) is not None][:1]
    if own is None or own.low is None or own.high is None or not others:
        return
    lowest, highest = min(estimate.value for estimate in others), max(estimate.value for estimate in others)
    if own.low <= RANGE_FACTOR * highest and own.high >= lowest / RANGE_FACTOR:
        return
    where = "above the highest" if own.low > RANGE_FACTOR * highest else "below the lowest"
    scale = units.DURATION if number.is_time else units.INSTRUCTIONS
    limit = units.quantity(highest if where.startswith("above") else lowest, scale)
    among = f"{units.count(len(others))} like machine{'s' if len(others) > 1 else ''}"
    factor = units.trimmed(RANGE_FACTOR)
    yield f"{units.interval(own, scale)} is by more than {factor} times {where} of {among}, {limit}"


def extent(number: Number) -> Estimate | None:
    """The cost with its ends; None where it is none to compare with."""
    return number.cost if number.is_sound and (number.distinguishable or not number.is_time) else None


MOST_TOLD = 3
"""Changes of the series that are told of a submission; the page has all."""

FEWEST_CASES, LEAST_SHARE = 10, 0.8
"""The model is refuted where the intervals of so many estimates, or more, hold a smaller share of times."""


class Beside(NamedTuple):
    """A cost of a case beside what others printed, from the least to the greatest, or beside its estimate, ns."""

    key: Key
    cost: Estimate
    other: Estimate
    is_printed: bool

    @property
    def holds(self) -> bool:
        """Whether the cost lies inside; an interval reaches into the range of others, and an estimate holds a value."""
        low, high = self.cost[1:] if self.is_printed else (self.cost.value, self.cost.value)
        return (self.other.low or 0.0) <= (high or 0.0) and (low or 0.0) <= (self.other.high or 0.0)

    @property
    def times(self) -> float:
        low, high = self.other.low or 0.0, self.other.high or 0.0
        return self.cost.value / (low if self.cost.value < low else high)


class Shows(NamedTuple):
    """Sentences, and what they are from."""

    lines: tuple[str, ...] = ()
    beside: tuple[Beside, ...] = ()


def shows(new: Submission, base: Catalogue) -> Shows:
    """What a submission of times adds to `base`; nothing of instructions, or of suites that guide nobody."""
    evidence = evidence_of(replace(base, active=(*base.active, new)))
    timed = (number for number in new.numbers if number.is_time and number.is_sound and number.case in evidence.case_of)
    own = {
        number.key: number
        for number in timed
        if number.is_clear and evidence.case_of[number.case].counted_by != "nothing"
    }
    if not own:
        return Shows()
    all_models = models(evidence_of(base))
    printed = [Beside(number.key, number.known_cost, other, is_printed=True) for number, other in _printed(base, own)]
    estimated = [
        Beside(key, own[key].known_cost, ratio.times(own[key].known_cost.value / calibration.ratio), is_printed=False)
        for calibration in judged(evidence, new.machine)
        if calibration.ratio and (key := Key(calibration.case, calibration.tracer, None)) in own
        if (ratio := all_models.held(calibration.kind, has_exceptions=calibration.has_exceptions))
    ]
    lines = [*_firsts(new, base, list(own.values())), *_agreement(printed), *_trial(estimated)]
    return Shows(tuple(lines), (*printed, *estimated))


def over_releases(new: Submission, after: Catalogue) -> Iterator[str]:
    """What counts of a submission, one of those in `after`, change in the series over releases, as its feed says it.

    What leads to them comes before what leads from them to the next release, and the largest first.
    """
    each = series(after)
    counts = sum(
        number.submission.id == new.id and number.cost is not None for matrix in each for number in matrix.all()
    )
    changes = [
        (case_comparison, matrix)
        for matrix in each
        for case_comparison in series_changes(matrix)
        if new.id in {case_comparison.first.submission.id, case_comparison.second.submission.id}
    ]
    changes.sort(key=lambda told: (told[0].second.submission.id != new.id, -abs(told[0].change_ratio or 0)))
    yield from (f"Over releases of Linux: {kernel_changes.series_sentence(*told)}." for told in changes[:MOST_TOLD])
    if counts:
        least = units.stated(LEAST_CHANGE_RATIO, units.SHARE)
        yield (
            f"The series over releases, {kernel_changes.SERIES} of the site, has {units.count(counts)} of its counts; "
            f"changes of more than {least}: {units.count(len(changes))}."
        )


def _printed(base: Catalogue, own: Mapping[Key, Number]) -> Iterator[tuple[Number, Estimate]]:
    """Each number that others printed with the same tool, and from where to where their figures reach."""
    for case, numbers in grouped_by(own.values(), lambda number: number.case).items():
        for pairs in grouped_by(of_case(base, case, numbers), lambda pair: pair.measured.key).values():
            costs = sorted(float(pair.figure.cost_ns or 0) for pair in pairs)
            yield pairs[0].measured, Estimate(costs[0], costs[0], costs[-1])


def _firsts(new: Submission, base: Catalogue, own: Sequence[Number]) -> Iterator[str]:
    kind, before = facts_of_submission(new).kind, dict[str, set[str]]()
    for case in {number.case for number in own}:
        before[case] = {
            facts_of_submission(number.submission).kind for number in base.numbers.of_case(case) if extent(number)
        }
    first = {
        number.case: number
        for number in sorted(own, key=lambda number: number.tracer, reverse=True)
        if not before[number.case]
    }
    told = [
        f"{base.titles[case]} {units.interval(number.cost, units.DURATION)} with {names.tool_with_version(number)}"
        for case, number in sorted(first.items())
    ]
    if told:
        yield _named("First times, of one event", told)
    if others := sum(bool(kinds) and kind not in kinds for kinds in before.values()):
        yield f"First times on a machine of this kind ({kind}): of {others} cases that others have timed."


def _named(lead: str, items: Sequence[str]) -> str:
    """A sentence with as many whole items as a line of a report holds, and how many more there are."""
    some = ("; ".join([*items[:most], f"and {len(items) - most} more"]) for most in range(len(items) - 1, -1, -1))
    whole = (f"{lead}: {text}." for text in ("; ".join(items), *some))
    return next(text for text in whole if len(text) <= MAX_LINE)


def _agreement(printed: Sequence[Beside]) -> Iterator[str]:
    out = sorted(pair.times for pair in printed if not pair.holds)
    if printed:
        span = units.span(Estimate(out[0], out[0], out[-1]), units.TIMES) if out else ""
        rest = f"; the others are {span} the nearest figure" if out else ""
        yield f"Others printed {len(printed)} of its costs: {len(printed) - len(out)} lie inside their range{rest}."


def _trial(estimated: Sequence[Beside]) -> Iterator[str]:
    if estimated:
        held = sum(pair.holds for pair in estimated)
        share = held / len(estimated)
        verdict = "the model stands" if share >= LEAST_SHARE else "the model is refuted on this machine"
        if len(estimated) < FEWEST_CASES:
            verdict = f"fewer than {FEWEST_CASES} decide nothing"
        yield (
            f"Estimates from counts, on trial: the intervals of {held} of {len(estimated)} hold the measured time "
            f"({units.percent(share, 2)}; it takes {units.percent(LEAST_SHARE, 2)}): {verdict}."
        )


T = TypeVar("T")

NumberKind = Literal["cost", "count", "figure"]
NumberValue = Estimate | Figure
NumbersById = dict[str, tuple[NumberKind, NumberValue]]


def report_of(files: TreeDifference, problems: Iterable[Problem], base: str, head: str) -> ReviewReport:
    groups, beside = grouped(problems), frozenset(files.beside)
    of_change = {change: getattr(files, change) for change in get_args(report.FileChange)}
    return ReviewReport(
        schema_version=1,
        base=_line(base),
        head=_line(head),
        errors=sum(group.times for group in groups if group.first.severity == "error"),
        warnings=sum(group.times for group in groups if group.first.severity == "warning"),
        odd_cases=0,
        beside={change: number for change, paths in of_change.items() if (number := len(beside.intersection(paths)))},
        problems=_listed(
            _row(report.ProblemRow, problem_group.first, message=problem_group.message, times=problem_group.times)
            for problem_group in groups
        ),
        files=_listed(
            _row(report.FileRow, change=change, path=path, beside=path in beside)
            for change, paths in of_change.items()
            for path in paths
        ),
    )


def with_data(
    review: ReviewReport, base: Catalogue, head: DataFolder, files: TreeDifference, unsound: Collection[str]
) -> ReviewReport:
    """The report with what `head` would publish beside `base`, each list in a stable order.

    Submissions and sources that `checks` found `unsound`, by id, are excluded.
    """
    results = [submission_id for submission_id in files.things("results", 2) if submission_id not in unsound]
    published = [source_id for source_id in files.things("published", 1) if source_id not in unsound]
    folders = [
        SubmissionFolder(head.results / submission_id)
        for submission_id in results
        if (head.results / submission_id).is_dir()
    ]
    submissions = read_submissions(folders, head, [])
    places = (head.root / "published" / source for source in published)
    sources = [*filter(None, (read_published(folder, head, []) for folder in places if folder.is_dir()))]
    log, _ = read_changes(head)
    changes = log.changes if log else base.changes
    gone = changed_ids(changes, "withdrawn")
    before = _numbers(base.active, base.sources, {*results, *published, *gone})
    after = _numbers(
        (submission for submission in submissions if submission.id not in gone), sources, {*results, *published}
    )
    all_ids = {submission.id for submission in base.everything} | {
        published_source.id for published_source in base.sources
    }
    new = [replace(submission, titles=base.titles) for submission in submissions if submission.id not in all_ids]
    together = replace(base, active=(*base.active, *new))
    rows = [_submission(submission, base, together) for submission in new]
    new_sources = (published_source for published_source in sources if published_source.id not in all_ids)
    new_changes = (change for change in changes if change not in base.changes)
    of_data = {
        "odd_cases": sum(remark.is_odd for row in rows for remark in row.remarks.rows),
        "of_project": sum(row.of_project for row in rows),
        "submissions": _listed(rows),
        "sources": _listed(
            _row(
                report.SourceRow,
                published_source,
                title=published_source.document.title,
                figures=len(published_source.figures),
            )
            for published_source in new_sources
        ),
        "changes": _listed(
            _row(report.ChangeRow, change, more=max(0, len(change.what) - MAX_FEW)) for change in new_changes
        ),
        "numbers": _listed(_number_rows(before, after)),
    }
    return ReviewReport.model_validate(dict(review) | of_data)


def _number_rows(before: NumbersById, after: NumbersById) -> Iterator[report.NumberRow]:
    """Every number that is not the same, by id; of a figure, its line in the file does not count."""
    for name in sorted(before.keys() | after.keys()):
        (kind, old), (other_kind, new) = before.get(name, (None, None)), after.get(name, (None, None))
        was, now = (value.said if isinstance(value, Figure) else value for value in (old, new))
        if old is None or new is None or was != now:
            kind = kind or other_kind or "figure"
            yield _row(report.NumberRow, id=name, kind=kind, old=_written(old, kind), new=_written(new, kind))


def _numbers(
    submissions: Iterable[Submission], sources: Iterable[PublishedSource], wanted: Collection[str]
) -> NumbersById:
    """The numbers of those submissions and sources that are wanted, by the id that the site's addresses have."""
    by_id: NumbersById = {}
    for submission in submissions:
        if submission.id in wanted:
            kind: NumberKind = "cost" if submission.metric == "time" else "count"
            by_id |= {number.id: (kind, number.cost) for number in submission.numbers if number.cost is not None}
    for source in sources:
        if source.id in wanted:
            by_id |= {f"{source.id}#{figure.figure}": ("figure", figure) for figure in source.figures}
    return by_id


FIGURE_UNITS = {"percent": "%", "us": "µs", "hz": "/s"}
"""How units are written that a column of `figures.csv` spells otherwise."""


def _listed(rows: Iterable[T]) -> Listed[T]:
    return Listed(rows=tuple(rows))


def _row(model: type[D], like: object = None, /, **values: object) -> D:
    """A row of `values`, the others being what `like` calls the same; each as short and plain as a row has it."""
    missing = model.model_fields.keys() - values.keys()
    copied = {name: getattr(like, name) for name in missing if hasattr(like, name)}
    return model.model_validate({name: _printable(value) for name, value in (copied | values).items()})


def _printable(value: object) -> object:
    """Text as lines; of numbers those that can be written: what no measurement could have is left out."""
    if isinstance(value, str):
        return _line(value)
    if isinstance(value, tuple):
        return tuple(_line(text) for text in value[:MAX_FEW])
    return None if isinstance(value, float) and not is_writable(value) else value


def _line(text: str) -> str:
    """One line of plain text, cut where it is too long; never empty. The blanks of our own numbers stay."""
    plain = (char if char in (units.GAP, units.GROUP) else printable(char) for char in text[:MAX_LINE])
    line = "".join(plain)
    return (line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 1]}…") or units.MISSING


def _submission(submission: Submission, base: Catalogue, together: Catalogue) -> report.SubmissionRow:
    document, near = submission.document, nearest(submission, base.active)
    shown = (
        shows(submission, base) if submission.metric == "time" else Shows(tuple(over_releases(submission, together)))
    )
    # Each case to what others printed of it, and to its estimate, and whether the cost lies inside.
    cells: dict[Key, dict[str, str]] = {}
    for cost in shown.beside:
        words = f"{units.span(cost.other, units.DURATION)}: {'inside' if cost.holds else 'outside'}"
        cells.setdefault(cost.key, {})["printed" if cost.is_printed else "estimated"] = words
    return _row(
        report.SubmissionRow,
        submission,
        name=names.machine_name(submission),
        tier=parts.tier(document),
        submitter=document.submitter.name,
        blocks=document.run.blocks,
        baseline_ns=submission.baseline.value if submission.baseline and submission.metric == "time" else None,
        cases=_listed(_case(number, cells.get(number.key, {})) for number in submission.numbers),
        remarks=_listed(remarks(submission, base.active)),
        of_project=document.provenance.kind == "project",
        shows=shown.lines,
        nearest=_row(
            report.NearestRow,
            near.likeness,
            name=names.machine_name(near.newest),
            sentences=_sentences(
                [case_comparison for case_comparison in near.comparisons if case_comparison.first.is_time], submission
            ),
            compared=_listed(_compared(case_comparison) for case_comparison in near.comparisons),
        )
        if near
        else None,
    )


def _case(number: Number, beside: Mapping[str, str]) -> report.CaseRow:
    notes = [number.note] if number.is_time else [*number.faults, number.note]
    cost = interval_json(number.cost, "cost", "ns") if number.is_time else spread_json(number.cost, "cost")
    note, floor_ns = "; ".join(filter(None, notes)) or None, number.time.noise_floor_ns
    loss_ratio = number.event.loss_ratio
    return _row(report.CaseRow, number, note=note, noise_floor_ns=floor_ns, loss_ratio=loss_ratio, **cost, **beside)


def _sentences(timed: Sequence[Comparison], submission: Submission) -> tuple[str, ...]:
    here = f"on {names.machine_name(submission)}"
    return (comparison.summary(timed, here), comparison.chance(timed)) if timed else ()


def _compared(case_comparison: Comparison) -> report.ComparedRow:
    if case_comparison.first.is_time:
        before, after = (
            units.interval(number.cost, units.DURATION) for number in (case_comparison.first, case_comparison.second)
        )
        difference, ratio = comparison.cells(case_comparison)[:2]
    else:
        before, after = instructions.counts(case_comparison)
        difference = units.quantity(case_comparison.difference.value, units.INSTRUCTIONS)
        ratio = instructions.change(case_comparison)
    given = {
        "before": before,
        "after": after,
        "difference": difference,
        "ratio": ratio,
        "outcome": case_comparison.outcome,
    }
    return _row(report.ComparedRow, case_comparison.second.key, **given)


def _written(value: NumberValue | None, kind: NumberKind) -> str | None:
    if value is None:
        return None
    if isinstance(value, Estimate):
        is_time = kind == "cost"
        return units.interval(value, units.DURATION) if is_time else units.spread(value, units.INSTRUCTIONS)
    return f"{value.value}{units.GAP}{FIGURE_UNITS.get(value.unit, value.unit)}"
