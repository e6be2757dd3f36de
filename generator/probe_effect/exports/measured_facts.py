"""Times that hand-written pages may quote, by key. `<one>` is `<tracer>.<case>[@<level>]`:

- `<one>.<cost|cost-interval|fastest|slowdown|threshold-1|threshold-5|threshold-30|loss|start|stop>`.
- `<tracer>.<case>.slowdown@<1k|10k|100k|1M>`: slowdown of a busy thread at that rate of events.
- `<tracer>.<case>.threads-<n>`: the cost with so many threads that fire the probe, over that with one.
- `<one>/<one>`: the ratio of two costs of one submission, where a page asks for it.
- `machine`, `machine-tier`, `baseline`, `noise-floor`: of the reference submission.

Which submission a number comes from is decided in `pages.newest`; the title names the machine and the day.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.guidance import names
from probe_effect.guidance.evidence import START_SUITES
from probe_effect.guidance.slowdown import THRESHOLDS, slowdown_at
from probe_effect.pages import addresses, newest, wording

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from probe_effect.guidance.catalogue import Catalogue, MeasuredSubmission
    from probe_effect.guidance.evidence import Measured
    from probe_effect.model import Interval
    from probe_effect.units import Scale

Fact = dict[str, str]
"""`text`, `title` (for hovering), `href`, `kind` (measured, published or counted); `cell` is its text in a table."""

RATES_HZ = {"1k": 1e3, "10k": 1e4, "100k": 1e5, "1M": 1e6}

ONE_THREAD = "1"


def facts(catalogue: Catalogue, ratios: Iterable[str] = ()) -> dict[str, Fact]:
    """Key to fact; of `ratios`, those that two costs of one submission have."""
    submissions = newest.in_order(catalogue)
    found = dict(_machine(submissions[0])) if submissions else {}
    current = newest.current(submissions)
    starts = {case.id for one in catalogue.suites if one.suite.measures == START_SUITES for case in one.suite.cases}
    for key, one in current.items():
        found |= {f"{key}.{what}": fact for what, fact in _of_tool(one)}
        if one.case.case not in starts:
            found |= {f"{key}.{what}": fact for what, fact in _of_event(one)}
    found |= dict(_of_threads(catalogue, current))
    for key in ratios:
        first, _, second = key.partition("/")
        if ratio := _ratio(submissions, first, second):
            found[key] = ratio
    return found


def _machine(submission: MeasuredSubmission) -> Iterator[tuple[str, Fact]]:
    summary = submission.summary
    machine = names.machine_name(submission.document)
    common = {"title": machine, "href": addresses.machine(summary.machine), "kind": "measured"}
    yield "machine", common | {"text": machine}
    yield "machine-tier", common | {"text": wording.tier(submission.document)}
    yield "baseline", common | {"text": units.duration(summary.baseline_ns)}
    yield "noise-floor", common | {"text": units.duration(summary.noise_floor_ns, 2)}


def _of_tool(one: Measured) -> Iterator[tuple[str, Fact]]:
    """How long the tracer takes to start and to stop."""
    if one.case.attach is not None:
        yield "start", _fact(one, "start", one.case.attach, units.DURATION)
    if one.case.detach is not None:
        yield "stop", _fact(one, "stop", one.case.detach, units.DURATION)


def _of_event(one: Measured) -> Iterator[tuple[str, Fact]]:
    case = one.case
    cost = _bounded(one, "cost", one.bounded, units.DURATION)
    yield "cost", cost | {"cell": wording.cost(case)}
    yield "cost-interval", cost | {"text": wording.cost(case)}
    if case.fastest_ns is not None:
        yield "fastest", _told(one, "fastest", units.duration(case.fastest_ns), "least traced less least untraced time")
    if case.slowdown is not None and case.baseline_ns:
        saturated = slowdown_at(one.bounded, units.NS_PER_SECOND / case.baseline_ns)
        yield "slowdown", _bounded(one, "slowdown", case.slowdown if one.is_clear else saturated, units.SHARE)
    yield from _of_thresholds(one)
    if case.loss_ratio is not None:
        yield "loss", _told(one, "loss", units.percent(case.loss_ratio), "events lost")
    if case.level is None:
        for word, rate_hz in RATES_HZ.items():
            at_rate = f"at {units.stated(rate_hz, units.EVENTS)}: "
            yield f"slowdown@{word}", _bounded(one, "slowdown", slowdown_at(one.bounded, rate_hz), units.SHARE, at_rate)


def _of_thresholds(one: Measured) -> Iterator[tuple[str, Fact]]:
    found: dict[addresses.Quantity, Interval | None] = {
        "threshold-1": one.case.threshold_1,
        "threshold-5": one.case.threshold_5,
        "threshold-30": one.case.threshold_30,
    }
    for (what, rate), percent in zip(found.items(), THRESHOLDS, strict=True):
        if rate is not None:
            fact = _fact(one, what, rate, units.EVENTS, f"{percent} % slower at ")
            yield what, fact | {"cell": units.interval(rate, units.RATE)}


def _of_threads(catalogue: Catalogue, current: dict[str, Measured]) -> Iterator[tuple[str, Fact]]:
    """By the case with many threads and by the case whose event it is."""
    suites = [one.suite for one in catalogue.suites if one.suite.factor and one.suite.factor.occupies_cpus]
    likes = {case.id: case.like for suite in suites for case in suite.cases}
    for many in current.values():
        case = many.case
        single = current.get(f"{case.tracer}.{case.case}@{ONE_THREAD}")
        if case.case not in likes or case.level in {None, ONE_THREAD} or single is None:
            continue
        ratio = many.over(single) if single.submission is many.submission else None
        if ratio is not None:
            for subject in filter(None, (case.case, likes[case.case])):
                said = f"cost with {case.level} threads over that with one: "
                yield f"{case.tracer}.{subject}.threads-{case.level}", _fact(many, "cost", ratio, units.TIMES, said)


def _ratio(submissions: Iterable[MeasuredSubmission], first: str, second: str) -> Fact | None:
    """The first cost over the second, of the first submission that has both of them clear of noise."""
    for submission in submissions:
        costs = {newest.name(one.case): one for one in newest.usable(submission) if one.case.distinguishable}
        if first in costs and second in costs:
            one, other = costs[first], costs[second]
            ratio = one.over(other)
            shown = [units.interval(side.cost, units.DURATION) for side in (one, other)]
            return _fact(one, "cost", ratio, units.TIMES, f"{shown[0]} over {shown[1]}: ") if ratio else None
    return None


def _bounded(one: Measured, what: addresses.Quantity, found: Interval, scale: Scale, said: str = "") -> Fact:
    """A quantity; of one that is not distinguishable from 0, what it lies below."""
    if one.case.distinguishable is False and found.high is not None:
        below = f"less than {units.quantity(found.high, scale, 2)}"
        # The number's page names no other quantity of such a cost.
        return _told(one, "cost", below, f"{said}not distinguishable from 0")
    return _fact(one, what, found, scale, said)


def _fact(one: Measured, what: addresses.Quantity, found: Interval, scale: Scale, said: str = "") -> Fact:
    """The value to the place that its interval supports; the interval on hover and in tables."""
    whole = units.interval(found, scale)
    return _told(one, what, whole.partition(" (")[0], f"{said}{whole}") | {"cell": whole}


def _told(one: Measured, what: addresses.Quantity, text: str, title: str) -> Fact:
    machine = names.machine_name(one.submission.document)
    href = addresses.number(one.submission.summary.id, one.case, what)
    return {"text": text, "title": f"{title}; {machine}, {one.date}", "href": href, "kind": "measured"}
