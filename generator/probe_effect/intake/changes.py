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
from probe_effect.costs.evidence import evidence
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


def remarks(new: Submission, known: Iterable[Submission]) -> list[report.RemarkRow]:
    """What is to be looked at in each case of a submission, beside those published; what may be wrong comes first."""
    own, others = facts_of_submission(new), of_kind(new, known).values()
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


def _out_of_range(one: Number, machines: Iterable[Sequence[Number]]) -> Iterator[str]:
    own, others = extent(one), []
    wanted = one.case, tool_of(one.tracer), one.level
    for numbers in machines:  # the first cost of each for the same case, tool and level
        same = (other for other in numbers if (other.case, tool_of(other.tracer), other.level) == wanted)
        others += [cost for other in same if (cost := extent(other)) is not None][:1]
    if own is None or own.low is None or own.high is None or not others:
        return
    lowest, highest = min(found.value for found in others), max(found.value for found in others)
    if own.low <= RANGE_FACTOR * highest and own.high >= lowest / RANGE_FACTOR:
        return
    where = "above the highest" if own.low > RANGE_FACTOR * highest else "below the lowest"
    scale = units.DURATION if one.is_time else units.INSTRUCTIONS
    known = units.quantity(highest if where.startswith("above") else lowest, scale)
    among = f"{units.count(len(others))} like machine{'s' if len(others) > 1 else ''}"
    factor = units.trimmed(RANGE_FACTOR)
    yield f"{units.interval(own, scale)} is by more than {factor} times {where} of {among}, {known}"


def extent(one: Number) -> Estimate | None:
    """The cost with its ends; None where it is none to compare with."""
    return one.cost if one.is_sound and (one.distinguishable or not one.is_time) else None


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
    found = evidence(replace(base, active=(*base.active, new)))
    timed = (one for one in new.numbers if one.is_time and one.is_sound and one.case in found.case_of)
    own = {one.key: one for one in timed if one.is_clear and found.case_of[one.case].counted_by != "nothing"}
    if not own:
        return Shows()
    known = models(evidence(base))
    printed = [Beside(one.key, one.known_cost, other, is_printed=True) for one, other in _printed(base, own)]
    estimated = [
        Beside(key, own[key].known_cost, ratio.times(own[key].known_cost.value / one.ratio), is_printed=False)
        for one in judged(found, new.machine)
        if one.ratio and (key := Key(one.case, one.tracer, None)) in own
        if (ratio := known.held(one.kind, has_exceptions=one.has_exceptions))
    ]
    lines = [*_firsts(new, base, list(own.values())), *_agreement(printed), *_trial(estimated)]
    return Shows(tuple(lines), (*printed, *estimated))


def over_releases(new: Submission, after: Catalogue) -> Iterator[str]:
    """What counts of a submission, one of those in `after`, change in the series over releases, as its feed says it.

    What leads to them comes before what leads from them to the next release, and the largest first.
    """
    each = series(after)
    counts = sum(one.submission.id == new.id and one.cost is not None for found in each for one in found.all())
    changes = [
        (one, found)
        for found in each
        for one in series_changes(found)
        if new.id in {one.first.submission.id, one.second.submission.id}
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
    for case, numbers in grouped_by(own.values(), lambda one: one.case).items():
        for pairs in grouped_by(of_case(base, case, numbers), lambda pair: pair.measured.key).values():
            costs = sorted(float(pair.figure.cost_ns or 0) for pair in pairs)
            yield pairs[0].measured, Estimate(costs[0], costs[0], costs[-1])


def _firsts(new: Submission, base: Catalogue, own: Sequence[Number]) -> Iterator[str]:
    kind, before = facts_of_submission(new).kind, dict[str, set[str]]()
    for case in {one.case for one in own}:
        before[case] = {facts_of_submission(one.submission).kind for one in base.numbers.of_case(case) if extent(one)}
    first = {one.case: one for one in sorted(own, key=lambda one: one.tracer, reverse=True) if not before[one.case]}
    told = [
        f"{base.titles[case]} {units.interval(one.cost, units.DURATION)} with {names.tool_with_version(one)}"
        for case, one in sorted(first.items())
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
    out = sorted(one.times for one in printed if not one.holds)
    if printed:
        span = units.span(Estimate(out[0], out[0], out[-1]), units.TIMES) if out else ""
        rest = f"; the others are {span} the nearest figure" if out else ""
        yield f"Others printed {len(printed)} of its costs: {len(printed) - len(out)} lie inside their range{rest}."


def _trial(estimated: Sequence[Beside]) -> Iterator[str]:
    if estimated:
        held = sum(one.holds for one in estimated)
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
        problems=_listed(_row(report.ProblemRow, one.first, message=one.message, times=one.times) for one in groups),
        files=_listed(
            _row(report.FileRow, change=change, path=path, beside=path in beside)
            for change, paths in of_change.items()
            for path in paths
        ),
    )


def with_data(
    found: ReviewReport, base: Catalogue, head: DataFolder, files: TreeDifference, unsound: Collection[str]
) -> ReviewReport:
    """The report with what `head` would publish beside `base`, each list in a stable order.

    Submissions and sources that `checks` found `unsound`, by id, are excluded.
    """
    results = [one for one in files.things("results", 2) if one not in unsound]
    published = [one for one in files.things("published", 1) if one not in unsound]
    folders = [SubmissionFolder(head.results / one) for one in results if (head.results / one).is_dir()]
    submissions = read_submissions(folders, head, [])
    places = (head.root / "published" / source for source in published)
    sources = [*filter(None, (read_published(place, head, []) for place in places if place.is_dir()))]
    log, _ = read_changes(head)
    changes = log.changes if log else base.changes
    gone = changed_ids(changes, "withdrawn")
    before = _numbers(base.active, base.sources, {*results, *published, *gone})
    after = _numbers((one for one in submissions if one.id not in gone), sources, {*results, *published})
    known = {one.id for one in base.everything} | {one.id for one in base.sources}
    new = [replace(one, titles=base.titles) for one in submissions if one.id not in known]
    together = replace(base, active=(*base.active, *new))
    rows = [_submission(one, base, together) for one in new]
    new_sources = (one for one in sources if one.id not in known)
    new_changes = (one for one in changes if one not in base.changes)
    of_data = {
        "odd_cases": sum(remark.is_odd for row in rows for remark in row.remarks.rows),
        "of_project": sum(row.of_project for row in rows),
        "submissions": _listed(rows),
        "sources": _listed(
            _row(report.SourceRow, one, title=one.document.title, figures=len(one.figures)) for one in new_sources
        ),
        "changes": _listed(_row(report.ChangeRow, one, more=max(0, len(one.what) - MAX_FEW)) for one in new_changes),
        "numbers": _listed(_number_rows(before, after)),
    }
    return ReviewReport.model_validate(dict(found) | of_data)


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
    found: NumbersById = {}
    for one in submissions:
        if one.id in wanted:
            kind: NumberKind = "cost" if one.metric == "time" else "count"
            found |= {number.id: (kind, number.cost) for number in one.numbers if number.cost is not None}
    for source in sources:
        if source.id in wanted:
            found |= {f"{source.id}#{figure.figure}": ("figure", figure) for figure in source.figures}
    return found


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


def _submission(one: Submission, base: Catalogue, together: Catalogue) -> report.SubmissionRow:
    document, near = one.document, nearest(one, base.active)
    shown = shows(one, base) if one.metric == "time" else Shows(tuple(over_releases(one, together)))
    # Each case to what others printed of it, and to its estimate, and whether the cost lies inside.
    cells: dict[Key, dict[str, str]] = {}
    for cost in shown.beside:
        words = f"{units.span(cost.other, units.DURATION)}: {'inside' if cost.holds else 'outside'}"
        cells.setdefault(cost.key, {})["printed" if cost.is_printed else "estimated"] = words
    return _row(
        report.SubmissionRow,
        one,
        name=names.machine_name(one),
        tier=parts.tier(document),
        submitter=document.submitter.name,
        blocks=document.run.blocks,
        baseline_ns=one.baseline.value if one.baseline and one.metric == "time" else None,
        cases=_listed(_case(number, cells.get(number.key, {})) for number in one.numbers),
        remarks=_listed(remarks(one, base.active)),
        of_project=document.provenance.kind == "project",
        shows=shown.lines,
        nearest=_row(
            report.NearestRow,
            near.likeness,
            name=names.machine_name(near.newest),
            sentences=_sentences([found for found in near.comparisons if found.first.is_time], one),
            compared=_listed(_compared(found) for found in near.comparisons),
        )
        if near
        else None,
    )


def _case(one: Number, beside: Mapping[str, str]) -> report.CaseRow:
    notes = [one.note] if one.is_time else [*one.faults, one.note]
    cost = interval_json(one.cost, "cost", "ns") if one.is_time else spread_json(one.cost, "cost")
    note, floor_ns = "; ".join(filter(None, notes)) or None, one.time.noise_floor_ns
    loss_ratio = one.event.loss_ratio
    return _row(report.CaseRow, one, note=note, noise_floor_ns=floor_ns, loss_ratio=loss_ratio, **cost, **beside)


def _sentences(timed: Sequence[Comparison], one: Submission) -> tuple[str, ...]:
    here = f"on {names.machine_name(one)}"
    return (comparison.summary(timed, here), comparison.chance(timed)) if timed else ()


def _compared(found: Comparison) -> report.ComparedRow:
    if found.first.is_time:
        before, after = (units.interval(one.cost, units.DURATION) for one in (found.first, found.second))
        difference, ratio = comparison.cells(found)[:2]
    else:
        before, after = instructions.counts(found)
        difference = units.quantity(found.difference.value, units.INSTRUCTIONS)
        ratio = instructions.change(found)
    given = {"before": before, "after": after, "difference": difference, "ratio": ratio, "outcome": found.outcome}
    return _row(report.ComparedRow, found.second.key, **given)


def _written(value: NumberValue | None, kind: NumberKind) -> str | None:
    if value is None:
        return None
    if isinstance(value, Estimate):
        is_time = kind == "cost"
        return units.interval(value, units.DURATION) if is_time else units.spread(value, units.INSTRUCTIONS)
    return f"{value.value}{units.GAP}{FIGURE_UNITS.get(value.unit, value.unit)}"
