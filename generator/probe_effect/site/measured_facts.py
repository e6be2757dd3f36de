"""Times that hand-written pages may quote, by key. `<one>` is `<tracer>.<case>[@<level>]`:

- `<one>.<cost|cost-interval|fastest|slowdown|threshold-1|threshold-5|threshold-30|loss|start|stop>`.
- `<one>.<cost-per-iteration|cost-per-system-call>` in place of its cost, where the tool acts on every system call of
  the loop, shown or not: its event is an iteration of several.
- `<one>.untraced-rate`: how often the untraced program does what is traced; `<one>.traced-rate`: the highest rate of
  events while traced, which it says.
- `<tracer>.<case>.slowdown@<1k|10k|100k|1M>`: slowdown of a busy thread at that rate of events.
- `<tracer>.<case>.threads-<n>`: the cost with so many threads that fire the probe, over that with one.
- `<one>.[untraced-]<tail-50|tail-90|tail-99|tail-99.9|longest>`: so many per cent of the operations take no longer,
  where each was timed by itself; *untraced* is of the same blocks.
- `<tracer>.<case>.rates-held`: at how many of the rates that were measured rate x cost agrees with the slowdown, of a
  suite that varies the rate; `<tracer>.<case>.lowest-rate` and `.highest-rate`: between which.
- `<tracer>.<case>.per-frame`: what each frame of the stack adds to a sample.
- `<one>/<one>`: the ratio of two costs of one submission, of an event both or of an iteration, where a page asks;
  `<one>/less/<one>`: their difference. `<source>.<figure>/less/<one>`: what a published cost has more.
- `<one>.<quantity>/with/<one>[/with/<one>]`: for a sentence that compares them, where a page asks: of the first
  machine, the home machine before others, that has all of them.
- `<machine>/<run>/<one>.<cost|cost-interval|..|start|stop|tail-50|..>`: of that run, current or not, where a page asks.
- `<one>.machine`: the machine that its quantities are of, which may be another than the home machine.
- `<one>.mechanism`: how a user probe fires there, by the first instruction: emulated, stepped or called.
- `question/<id>`: the answer of all machines to a question of `costs.questions`, with its range; `question/<id>/range`
  is the range alone, and `question/<id>/<rate>` what a busy thread loses at that rate, of `SAMPLES_HZ`.
- `<baseline|noise-floor>.<suite>`: of the run that is shown of that suite.
- `machine`: the home machine.

Which machine a number comes from is decided in `numbers.shown`; the title names the machine and the day.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from probe_effect import units
from probe_effect.costs.actions import sample_law
from probe_effect.costs.evidence import evidence
from probe_effect.costs.instructions import is_in_red_zone, mechanism_of
from probe_effect.costs.machine import number_on_hardware
from probe_effect.costs.questions import of_all_machines, question
from probe_effect.costs.row import OF_RATES, calls_of_event, event_cost, line
from probe_effect.model import Estimate
from probe_effect.numbers import estimates, names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.rows import SHARES
from probe_effect.numbers.shown import home_numbers, in_order, representative
from probe_effect.numbers.submission import THRESHOLDS, Number, Submission, slowdown_at, threshold
from probe_effect.site.pages import addresses, parts
from probe_effect.site.pages.results import view_of
from probe_effect.store.beside_files import Figure
from probe_effect.units import Scale

Fact = dict[str, str]
"""`text`, `title` (for hovering), `href`, `kind` (measured, published, derived or counted); `cell`, its text in tables.

A measured one has its `machine`, distinguished from others of its name, and the short id of that as `place`.
A cost may have `hardware`, the key of what others measured without a hypervisor, and `red-zone`. `key` is that of a
fact which a reader can have from another machine.
"""

OF_ANY_MACHINE = re.compile(r"[a-z0-9-]+\.[a-z0-9-]+\.(cost|cost-interval|threshold-[0-9]+|slowdown@[0-9]+[kM])")
"""The keys of facts that a reader can have from a machine of their choice (site/assets/js/whose.js)."""

RATES_HZ = {"1k": 1e3, "10k": 1e4, "100k": 1e5, "1M": 1e6}
SAMPLES_HZ = {"99": 99.0, **RATES_HZ}
"""The rates that a question may have: profilers take 99 samples a second by default."""

ONE_THREAD = "1"
LESS = "less/"
WITH = "/with/"
QUESTION = "question/"
RANGE = "range"


def facts(catalogue: Catalogue, ratios: Iterable[str] = ()) -> dict[str, Fact]:
    """Key to fact; of `ratios`, those that two costs of one submission have, and the quantities of a named run."""
    submissions = in_order(catalogue.numbers)
    current = home_numbers(catalogue.numbers)
    found = {"machine": _name_of(submissions[0])} if submissions else {}
    found |= dict(_of_suites(current.values()))
    suites = {case.id: one.suite for one in catalogue.suites for case in one.suite.cases}
    for key, one in current.items():
        found[f"{key}.machine"] = _name_of(one.submission) | {"text": names.machine_name(one.submission)}
        found |= {f"{key}.{what}": fact for what, fact in (*_of_tool(one), *_of_use(one), *_of_single(one))}
        suite = suites.get(one.case)
        if view_of(suite).has_costs:
            found |= {f"{key}.{what}": fact for what, fact in _of_event(one, catalogue)}
        if suite is None or suite.result_type.guides:
            found |= {f"{key}.{what}": fact for what, fact in _of_rates(one, catalogue)}
    for machine in reversed(dict.fromkeys(one.machine for one in submissions)):  # the home machine's last
        own = {one.name: one for one in catalogue.numbers.of_machine(machine).values() if one.is_sound}
        for of in (_of_threads, _of_line, _of_depth):
            found |= dict(of(catalogue, own))
    figures = {f"{source.id}.{one.figure}": one for source in catalogue.sources for one in source.figures}
    for key in ratios:
        first, _, second = key.partition("/")
        ours, printed = current.get(second.removeprefix(LESS)), figures.get(first)
        if key.startswith(QUESTION) and (answer := of_question(catalogue, key)):
            found[key] = answer
        elif told := _ratio(catalogue, submissions, first, second) or _of_run(
            catalogue, _of_one_machine(catalogue, key)
        ):
            found[key] = told
        elif second.startswith(LESS) and ours and ours.distinguishable and printed and printed.cost_ns:
            found[key] = _gap(printed, ours)
    return {
        key: one | {"key": key} if "place" in one and OF_ANY_MACHINE.fullmatch(key) else one
        for key, one in found.items()
    }


def fact(text: str, title: str, href: str, kind: str) -> Fact:
    """The fact with its text, its words on hover, its address and how it was obtained."""
    return {"text": text, "title": title, "href": href, "kind": kind}


def _of_suites(current: Iterable[Number]) -> Iterator[tuple[str, Fact]]:
    """The untraced time of an iteration and the noise floor of each suite, from the run that is shown of it."""
    for suite, numbers in grouped_by(current, lambda one: one.submission.suite).items():
        [(machine, _)] = Counter(one.submission.machine for one in numbers).most_common(1)
        runs = {one.submission.id: one.submission for one in numbers if one.submission.machine == machine}
        shown = representative(list(runs.values()))
        common = _name_of(shown) | {"title": f"suite {suite}; {names.machine_name(shown)}, {shown.date}"}
        yield f"baseline.{suite}", common | {"text": units.duration(shown.baseline.value if shown.baseline else None)}
        yield f"noise-floor.{suite}", common | {"text": units.duration(shown.noise_floor_ns, 2)}
        yield f"equal-runs.{suite}", common | {"text": units.duration(shown.equal_runs_ns, 2)}


def _name_of(submission: Submission) -> Fact:
    label = names.machine_name(submission)
    return fact(label, label, addresses.machine(submission.machine), "measured") | _place(submission)


def _place(submission: Submission) -> Fact:
    return {"machine": names.machine_name(submission), "place": names.short_id(submission.machine)}


def _of_tool(one: Number) -> Iterator[tuple[str, Fact]]:
    """How long the tracer takes to start and to stop."""
    if one.event.attach is not None:
        yield "start", _fact(one, "start", one.event.attach, units.DURATION)
    if one.event.detach is not None:
        yield "stop", _fact(one, "stop", one.event.detach, units.DURATION)


def _of_use(one: Number) -> Iterator[tuple[str, Fact]]:
    """The tracer's own CPU time, memory and system calls for an operation, where measured."""
    own = one.own_use
    if own.cpu is not None:
        yield "cpu", _fact(one, "tracer-cpu", own.cpu, units.DURATION)
    if own.memory is not None:
        yield "memory", _fact(one, "tracer-memory", own.memory, units.SIZE)
    if own.calls is not None:
        yield "calls", _told(one, "tracer-calls", units.count(own.calls), "system calls of an operation")


def _of_single(one: Number) -> Iterator[tuple[str, Fact]]:
    """How long single operations take, with the tracer and without."""
    untraced = {key.level: tail for key, tail in one.submission.tails.items() if key.is_baseline}.get(one.level)
    for word, tail in (("", one.submission.tails.get(one.key)), ("untraced-", untraced)):
        if one.key in one.submission.tails and tail is not None:
            times = [time and _fact(one, "cost", time, units.DURATION) for time in tail.percentiles_ns]
            yield from (
                (f"{word}tail-{100 * share:g}", time) for share, time in zip(SHARES, times, strict=True) if time
            )
            longest = units.duration(tail.longest_ns)
            yield f"{word}longest", _told(one, "cost", longest, f"the longest of {units.count(tail.operations)}")


def _of_event(one: Number, catalogue: Catalogue) -> Iterator[tuple[str, Fact]]:
    found = evidence(catalogue)
    calls = calls_of_event(found, one.case)
    cost = _bounded(one, "cost", one.bounded_cost, units.DURATION) | {"cell": parts.cost(one)}
    if one.case in found.case_of:
        outside = number_on_hardware(found, one)
        cost |= {"hardware": f"{outside.source.id}.{outside.figure.figure}"} if outside else {}
        cost |= {"red-zone": "yes"} if is_in_red_zone(found.case_of[one.case], one) else {}
        if mechanism := mechanism_of(found.case_of[one.case], one):
            kernel = names.kernel_name(one.submission.document.system)
            yield "mechanism", _told(one, "cost", f"{mechanism} on {kernel}", "how a probe fires") | {"cell": mechanism}
    if calls is None:
        yield "cost", cost
        yield "cost-interval", cost | {"text": parts.cost(one)}
    else:
        yield "cost-per-iteration", _per(cost, f"iteration of {calls} system calls")
        alone = _bounded(one, "cost", cost_of_event(catalogue, one), units.DURATION)
        yield "cost-per-system-call", _per(alone, "system call")
    time = one.time
    if time.fastest_ns is not None and calls is None:
        yield "fastest", _told(one, "fastest", units.duration(time.fastest_ns), "least traced less least untraced time")
    if one.baseline is not None and one.baseline.value:
        untraced_hz = units.NS_PER_SECOND / one.baseline.value
        yield "untraced-rate", _told(one, "cost", units.rate(untraced_hz), "the untraced program's own rate")
        if time.slowdown is not None:
            saturated = slowdown_at(one.bounded_cost, untraced_hz)
            yield "slowdown", _bounded(one, "slowdown", time.slowdown if one.is_clear else saturated, units.SHARE)
    if time.rate_hz is not None:
        rate = units.rate(time.rate_hz)
        told = _told(one, "cost", f"{rate} while traced", "the highest rate of events while traced")
        yield "traced-rate", told | {"cell": rate}
    if time.loss_ratio is not None:
        yield "loss", _told(one, "loss", units.percent(time.loss_ratio), "events lost")


def _per(cost: Fact, unit: str) -> Fact:
    """The cost with what it is the cost of, unless it is an event."""
    return cost | {key: units.within(cost[key], after=f" per {unit}") for key in ("text", "cell") if key in cost}


def cost_of_event(catalogue: Catalogue, one: Number) -> Estimate:
    """The cost of one event; of a tool that acts on every system call of the loop, of the traced call alone."""
    found = evidence(catalogue)
    if not one.is_time or calls_of_event(found, one.case) is None:
        return one.bounded_cost
    return event_cost(found, (one.submission.machine, one.tracer, one.case), one.bounded_cost)[0]


def of_question(catalogue: Catalogue, key: str) -> Fact | None:
    """The answer to `question/<id>[/range|/<rate>]` over all machines; None where none has it."""
    name, _, form = key.removeprefix(QUESTION).partition("/")
    asked = question(catalogue, name)
    found = of_all_machines(catalogue, asked) if asked else None
    if asked is None or found is None or form not in ("", RANGE, *(SAMPLES_HZ if asked.of == "event" else ())):
        return None
    rate_hz = SAMPLES_HZ.get(form)
    time = found.time if rate_hz is None else slowdown_at(found.time, rate_hz)
    scale = units.DURATION if rate_hz is None else units.SHARE
    where = found.words if found.machines > 1 else names.machine_name(found.replies[0].number.submission)
    per = "" if asked.unit == "event" or rate_hz else f" per {asked.unit}"
    whole = f"{units.span(time, scale)}{per} on {where}"
    title = f"{asked.words}: the median of {whole}, from the least low to the greatest high end"
    value = f"{units.middle(time, scale)}{per} ({units.span(time, scale)} on {where})"
    page = addresses.case(found.replies[0].number.case)
    return fact(whole if form == RANGE or asked.by else value, title, page, "measured")


def _of_run(catalogue: Catalogue, key: str) -> Fact | None:
    """The quantity that `<machine>/<run>/<one>.<quantity>` names, of that run; None where the run has no such."""
    run, _, quantity = key.rpartition("/")
    for one in (one for submission in catalogue.everything if submission.id == run for one in submission.numbers):
        if quantity.startswith(f"{one.name}."):
            found = dict((*_of_tool(one), *_of_single(one), *_of_event(one, catalogue)))
            return found.get(quantity.removeprefix(f"{one.name}."))
    return None


def _of_rates(one: Number, catalogue: Catalogue) -> Iterator[tuple[str, Fact]]:
    """The thresholds and the slowdowns of one busy thread."""
    cost = cost_of_event(catalogue, one)
    quantities: tuple[str, ...] = ("threshold-1", "threshold-5", "threshold-30")
    for what, percent in zip(quantities, THRESHOLDS, strict=True):
        if one.is_clear and (rate := threshold(cost, percent)) is not None:
            told = _fact(one, what, rate, units.EVENTS, f"{percent} % slower at ")
            yield what, told | {"cell": units.interval(rate, units.RATE)}
    if one.level is None:
        for word, rate_hz in RATES_HZ.items():
            at_rate = f"at {units.stated(rate_hz, units.EVENTS)}: "
            yield f"slowdown@{word}", _bounded(one, "slowdown", slowdown_at(cost, rate_hz), units.SHARE, at_rate)


def _of_threads(catalogue: Catalogue, current: dict[str, Number]) -> Iterator[tuple[str, Fact]]:
    """The ratios of many threads to one, by the case with threads and by the case whose event it is."""
    suites = [one.suite for one in catalogue.suites if one.suite.factor and one.suite.factor.occupies_cpus]
    likes = {case.id: case.like for suite in suites for case in suite.cases}
    for many in current.values():
        single = current.get(f"{many.tracer}.{many.case}@{ONE_THREAD}")
        if many.case not in likes or many.level in {None, ONE_THREAD} or single is None:
            continue
        ratio = estimates.ratio(many.known_cost, single.known_cost) if single.submission is many.submission else None
        if ratio is not None:
            for subject in filter(None, (many.case, likes[many.case])):
                said = f"cost with {many.level} threads over that with one: "
                yield f"{many.tracer}.{subject}.threads-{many.level}", _fact(many, "cost", ratio, units.TIMES, said)


def _of_line(catalogue: Catalogue, current: dict[str, Number]) -> Iterator[tuple[str, Fact]]:
    """The rates at which the slowdown was rate x cost, by the case of a suite that varies the rate."""
    likes = {
        case.id: case.like
        for one in catalogue.suites
        for case in one.suite.cases
        if one.suite.factor and one.suite.factor.name in OF_RATES and case.like
    }
    found = evidence(catalogue)
    for one in {(one.tracer, one.case): one for one in current.values() if one.case in likes}.values():
        points = line(found, one.submission.machine, one.tracer, likes[one.case] or "")
        if points:
            key = f"{one.tracer}.{one.case}"
            title = "rates at which the slowdown is rate x cost, within their intervals"
            held = f"{sum(point.holds for point in points)} of {len(points)}"
            yield f"{key}.rates-held", _told(one, None, held, title)
            yield f"{key}.lowest-rate", _told(one, None, units.rate(points[0].rate_hz), "lowest rate measured")
            yield f"{key}.highest-rate", _told(one, None, units.rate(points[-1].rate_hz), "highest rate measured")


def _of_depth(catalogue: Catalogue, current: dict[str, Number]) -> Iterator[tuple[str, Fact]]:
    """What a frame adds, by the case of a sample whose stack was varied."""
    found = evidence(catalogue)
    for one in current.values():
        law = sample_law(found, one.submission.machine, one.tracer, one.case) if one.level is None else None
        if law:
            said = "each frame that is walked: "
            yield f"{one.tracer}.{one.case}.per-frame", _fact(one, "cost", law.line.per_x, units.DURATION, said)


def _ratio(catalogue: Catalogue, submissions: Iterable[Submission], first: str, second: str) -> Fact | None:
    """The first cost over the second, or less it, of the first submission with both clear of noise, of one unit."""
    is_less, second = second.startswith(LESS), second.removeprefix(LESS)
    for submission in submissions:
        costs = {one.name: one for one in submission.numbers if one.is_sound and one.distinguishable}
        if first in costs and second in costs:
            one, other = costs[first], costs[second]
            if len({calls_of_event(evidence(catalogue), side.case) for side in (one, other)}) > 1:
                return None
            shown = [units.interval(side.cost, units.DURATION) for side in (one, other)]
            if is_less:
                less = estimates.difference(one.known_cost, other.known_cost)
                return _fact(one, "cost", less, units.DURATION, f"{shown[0]} less {shown[1]}: ")
            ratio = estimates.ratio(one.known_cost, other.known_cost)
            return _fact(one, "cost", ratio, units.TIMES, f"{shown[0]} over {shown[1]}: ") if ratio else None
    return None


def _of_one_machine(catalogue: Catalogue, key: str) -> str:
    """The key of the run whose quantity a sentence compares with other numbers of its machine; others as they are."""
    quantity, *others = key.split(WITH)
    name = quantity.rpartition(".")[0]
    for machine in dict.fromkeys(one.machine for one in in_order(catalogue.numbers) if others):
        has = {one.name: one for one in catalogue.numbers.of_machine(machine).values() if one.is_sound}
        if has.keys() >= {name, *others}:
            return f"{has[name].submission.id}/{quantity}"
    return key


def _gap(printed: Figure, one: Number) -> Fact:
    """What a published cost has more than one of ours, whichever machines both are of."""
    gap = estimates.difference(Estimate(*[float(printed.cost_ns or 0)] * 3), one.known_cost)
    return _fact(one, "cost", gap, units.DURATION, f"{printed.what} less {units.interval(one.cost, units.DURATION)}: ")


def _bounded(one: Number, what: str, found: Estimate, scale: Scale, said: str = "") -> Fact:
    """A quantity; of one that is not distinguishable from 0, its upper end."""
    if one.distinguishable is False and found.high is not None:
        below = units.within(units.quantity(found.high, scale, 2), "less than ")
        # The number's page names no other quantity of such a cost.
        return _told(one, "cost", below, f"{said}not distinguishable from 0")
    return _fact(one, what, found, scale, said)


def _fact(one: Number, what: str, found: Estimate, scale: Scale, said: str = "") -> Fact:
    """The value to the place that its interval supports; the interval on hover and in tables."""
    whole = units.interval(found, scale)
    return _told(one, what, units.value(found, scale), f"{said}{whole}") | {"cell": whole}


def _told(one: Number, what: str | None, text: str, title: str) -> Fact:
    place = _place(one.submission)
    title = f"{title}; {place['machine']}, {one.submission.date}"
    return fact(text, title, addresses.number(one, what), "measured") | place
