"""What hand-written pages quote: every number by key, in `facts.json`, and the verdict of our numbers on claims.

The keys are in site/README.md. Which machine a number comes from is decided in `numbers.shown`; the title names the
machine and the day.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from operator import attrgetter, itemgetter
from pathlib import Path

from probe_effect import units
from probe_effect.compare.kernels import counted
from probe_effect.costs.actions import sample_law
from probe_effect.costs.evidence import evidence_of
from probe_effect.costs.instructions import is_in_red_zone, mechanism_of
from probe_effect.costs.machine import number_on_hardware
from probe_effect.costs.questions import of_all_machines, question
from probe_effect.costs.row import OF_RATES, calls_of_event, event_cost, line
from probe_effect.model import Estimate, Metric
from probe_effect.numbers import estimates, names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource
from probe_effect.numbers.index import grouped_by, once
from probe_effect.numbers.published import printed_text, with_unit
from probe_effect.numbers.rows import SHARES
from probe_effect.numbers.shown import home_numbers, in_order, representative
from probe_effect.numbers.submission import THRESHOLDS, Number, Submission, slowdown_at, threshold
from probe_effect.site.pages import addresses, instructions, parts
from probe_effect.site.pages.instructions import executed_of
from probe_effect.site.pages.results import view_of
from probe_effect.site.script_values import Values
from probe_effect.store.beside_files import Claim, Figure
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

OWN = {
    "start": ("event.attach", "start", units.DURATION),
    "stop": ("event.detach", "stop", units.DURATION),
    "cpu": ("own_use.cpu", "tracer-cpu", units.DURATION),
    "memory": ("own_use.memory", "tracer-memory", units.SIZE),
}
"""What a tracer takes itself, by key: where a number has it, its place on the number's page, how it is written."""

LESS = "less/"

# A number that a page quotes, with the unit that it wants or another word; a question with its form; awaited keys.
NUMBER = re.compile(r'\{\{<\s*number\s+"([^"]+)"(?:\s+"?([^\s">]+)"?)?\s*>\}\}')
ASKED = re.compile(r'\{\{<\s*question\s+"([^"]+)"(?:\s+"?(\w+)"?)?\s*>\}\}')
AWAITED = re.compile(r"\{\{<\s*(?:un)?known\s+([^>]+?)\s*>\}\}")
UNITS = {unit.name for scale in (units.DURATION, units.RATE) for unit in scale.units}


def written(content: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(content.rglob("*.md"))]


def asked_for(texts: Iterable[str]) -> dict[str, set[str]]:
    """The keys of all that some pages quote, each with the units in which a table there wants it."""
    asked: dict[str, set[str]] = {}
    for text in texts:
        for key, word in NUMBER.findall(text):
            asked.setdefault(key, set()).update({word} & UNITS)
        for words in ASKED.findall(text):
            asked.setdefault("/".join(filter(None, ("question", *words))), set())
        for keys in AWAITED.findall(text):
            asked |= {key: set() for key in re.findall(r'"([^"]+)"', keys) if key not in asked}
    return asked


def facts(catalogue: Catalogue, asked: Iterable[str] = ()) -> dict[str, Fact]:
    """Key to fact; of the keys with a slash those of `asked` alone, without what cannot be made."""
    submissions, current = in_order(catalogue.numbers), home_numbers(catalogue.numbers)
    made = {"machine": _of_machine(submissions[0])} if submissions else {}
    made |= dict(_of_suites(current.values()))
    suites = {case.id: folder.suite for folder in catalogue.suites for case in folder.suite.cases}
    for key, number in current.items():
        own = {"machine": _of_machine(number.submission), **dict(_of_tool(number))}
        suite = suites.get(number.case)
        if view_of(suite).has_costs:
            own |= dict(_of_event(number, catalogue))
        if suite is None or suite.result_type.guides:
            own |= dict(_of_rates(number, catalogue))
        made |= {f"{key}.{quantity}": fact for quantity, fact in own.items()}
    for machine in reversed(dict.fromkeys(submission.machine for submission in submissions)):  # the home machine's last
        sound = {number.name: number for number in catalogue.numbers.of_machine(machine).values() if number.is_sound}
        made |= dict((*_of_threads(catalogue, sound), *_of_line(catalogue, sound), *_of_depth(catalogue, sound)))
    counts = _current_counts(catalogue)
    figures = {
        f"{source.id}.{published_figure.figure}": (source, published_figure)
        for source in catalogue.sources
        for published_figure in source.figures
    }
    made |= dict(_of_data(catalogue)) | {key: _count(number) for key, number in counts.items()}
    made |= dict(pair for key, (source, figure) in figures.items() for pair in _of_figure(key, source, figure))
    for key in (key for key in asked if "/" in key):
        fact = (
            _answer(catalogue, key)
            or _of_two_costs(catalogue, submissions, key)
            or _of_run(catalogue, _of_one_machine(catalogue, key))
            or _of_figure_and_cost(figures, current, key)
            or _of_two_figures(figures, key)
            or _of_two_counts(counts, key)
        )
        if fact:
            made[key] = fact
    return {
        key: fact | {"key": key} if "place" in fact and OF_ANY_MACHINE.fullmatch(key) else fact
        for key, fact in made.items()
    }


def _fact(text: str, title: str, href: str, kind: str) -> Fact:
    return {"text": text, "title": title, "href": href, "kind": kind}


def _place(submission: Submission) -> Fact:
    return {"machine": names.machine_name(submission), "place": names.short_id(submission.machine)}


def _of_machine(submission: Submission) -> Fact:
    label = names.machine_name(submission)
    return _fact(label, label, addresses.machine(submission.machine), "measured") | _place(submission)


def _said(number: Number, what: str | None, text: str, title: str) -> Fact:
    origin = _place(number.submission)
    title = f"{title}; {origin['machine']}, {number.submission.date}"
    return _fact(text, title, addresses.number(number, what), "measured") | origin


def _quantity(number: Number, what: str, estimate: Estimate, scale: Scale, words: str = "") -> Fact:
    """The value to the place that its interval supports; the interval on hover and in tables."""
    whole = units.interval(estimate, scale)
    return _said(number, what, units.value(estimate, scale), f"{words}{whole}") | {"cell": whole}


def _bounded(number: Number, what: str, estimate: Estimate, scale: Scale, words: str = "") -> Fact:
    """A quantity; of one that is not distinguishable from 0, its upper end."""
    if number.distinguishable is False and estimate.high is not None:
        below = units.within(units.quantity(estimate.high, scale, 2), "less than ")
        # The number's page names no other quantity of such a cost.
        return _said(number, "cost", below, f"{words}not distinguishable from 0")
    return _quantity(number, what, estimate, scale, words)


def _of_suites(current: Iterable[Number]) -> Iterator[tuple[str, Fact]]:
    for suite, numbers in grouped_by(current, lambda number: number.submission.suite).items():
        [(machine, _)] = Counter(number.submission.machine for number in numbers).most_common(1)
        runs = {number.submission.id: number.submission for number in numbers if number.submission.machine == machine}
        shown = representative(list(runs.values()))
        common = _of_machine(shown) | {"title": f"suite {suite}; {names.machine_name(shown)}, {shown.date}"}
        yield f"baseline.{suite}", common | {"text": units.duration(shown.baseline.value if shown.baseline else None)}
        yield f"noise-floor.{suite}", common | {"text": units.duration(shown.noise_floor_ns, 2)}
        yield f"equal-runs.{suite}", common | {"text": units.duration(shown.equal_runs_ns, 2)}


def _of_tool(number: Number) -> Iterator[tuple[str, Fact]]:
    """What the tracer takes itself, and how long single operations take with it and without, where measured."""
    for key, (attribute, what, scale) in OWN.items():
        if (estimate := attrgetter(attribute)(number)) is not None:
            yield key, _quantity(number, what, estimate, scale)
    if (calls := number.own_use.calls) is not None:
        yield "calls", _said(number, "tracer-calls", units.count(calls), "system calls of an operation")
    tails = number.submission.tails
    if number.key not in tails:
        return
    untraced = {key.level: tail for key, tail in tails.items() if key.is_baseline}.get(number.level)
    for word, tail in (("", tails[number.key]), ("untraced-", untraced)):
        if tail is not None:
            for share, time in zip(SHARES, tail.percentiles_ns, strict=True):
                if time:
                    yield f"{word}tail-{100 * share:g}", _quantity(number, "cost", time, units.DURATION)
            title = f"the longest of {units.count(tail.operations)}"
            yield f"{word}longest", _said(number, "cost", units.duration(tail.longest_ns), title)


def _of_event(number: Number, catalogue: Catalogue) -> Iterator[tuple[str, Fact]]:
    evidence, time = evidence_of(catalogue), number.time
    calls = calls_of_event(evidence, number.case)
    cost = _bounded(number, "cost", number.bounded_cost, units.DURATION) | {"cell": parts.cost(number)}
    if case := evidence.case_of.get(number.case):
        outside = number_on_hardware(evidence, number)
        cost |= {"hardware": f"{outside.source.id}.{outside.figure.figure}"} if outside else {}
        cost |= {"red-zone": "yes"} if is_in_red_zone(case, number) else {}
        if mechanism := mechanism_of(case, number):
            kernel = names.kernel_name(number.submission.document.system)
            yield (
                "mechanism",
                _said(number, "cost", f"{mechanism} on {kernel}", "how a probe fires") | {"cell": mechanism},
            )
    if calls is None:
        yield "cost", cost
        yield "cost-interval", cost | {"text": parts.cost(number)}
        if time.fastest_ns is not None:
            title = "least traced less least untraced time"
            yield "fastest", _said(number, "fastest", units.duration(time.fastest_ns), title)
    else:
        alone = _bounded(number, "cost", cost_of_event(catalogue, number), units.DURATION)
        for key, fact, unit in (
            ("cost-per-iteration", cost, f"iteration of {calls} system calls"),
            ("cost-per-system-call", alone, "system call"),
        ):
            texts = {
                field: units.within(fact[field], after=f" per {unit}") for field in ("text", "cell") if field in fact
            }
            yield key, fact | texts
    if number.baseline is not None and number.baseline.value:
        untraced_hz = units.NS_PER_SECOND / number.baseline.value
        yield "untraced-rate", _said(number, "cost", units.rate(untraced_hz), "the untraced program's own rate")
        if time.slowdown is not None:
            saturated = slowdown_at(number.bounded_cost, untraced_hz)
            yield "slowdown", _bounded(number, "slowdown", time.slowdown if number.is_clear else saturated, units.SHARE)
    if time.rate_hz is not None:
        rate, title = units.rate(time.rate_hz), "the highest rate of events while traced"
        yield "traced-rate", _said(number, "cost", f"{rate} while traced", title) | {"cell": rate}
    if time.loss_ratio is not None:
        yield "loss", _said(number, "loss", units.percent(time.loss_ratio), "events lost")


def cost_of_event(catalogue: Catalogue, number: Number) -> Estimate:
    """The cost of one event; of a tool that acts on every system call of the loop, of the traced call alone."""
    evidence = evidence_of(catalogue)
    if not number.is_time or calls_of_event(evidence, number.case) is None:
        return number.bounded_cost
    return event_cost(evidence, (number.submission.machine, number.tracer, number.case), number.bounded_cost)[0]


def _of_rates(number: Number, catalogue: Catalogue) -> Iterator[tuple[str, Fact]]:
    cost = cost_of_event(catalogue, number)
    for percent in THRESHOLDS:
        if number.is_clear and (rate := threshold(cost, percent)) is not None:
            key = f"threshold-{percent}"
            fact = _quantity(number, key, rate, units.EVENTS, f"{percent} % slower at ")
            yield key, fact | {"cell": units.interval(rate, units.RATE)}
    if number.level is None:
        for word, rate_hz in RATES_HZ.items():
            at_rate = f"at {units.stated(rate_hz, units.EVENTS)}: "
            yield f"slowdown@{word}", _bounded(number, "slowdown", slowdown_at(cost, rate_hz), units.SHARE, at_rate)


def _of_threads(catalogue: Catalogue, current: Mapping[str, Number]) -> Iterator[tuple[str, Fact]]:
    """The ratios of many threads to one, by the case with threads and by the case whose event it is."""
    suites = [folder.suite for folder in catalogue.suites if folder.suite.factor and folder.suite.factor.occupies_cpus]
    likes = {case.id: case.like for suite in suites for case in suite.cases}
    for many in current.values():
        single = current.get(f"{many.tracer}.{many.case}@1")
        if many.case not in likes or many.level in {None, "1"} or single is None:
            continue
        ratio = estimates.ratio(many.known_cost, single.known_cost) if single.submission is many.submission else None
        if ratio is not None:
            words = f"cost with {many.level} threads over that with one: "
            fact = _quantity(many, "cost", ratio, units.TIMES, words)
            for subject in filter(None, (many.case, likes[many.case])):
                yield f"{many.tracer}.{subject}.threads-{many.level}", fact


def _of_line(catalogue: Catalogue, current: Mapping[str, Number]) -> Iterator[tuple[str, Fact]]:
    """The rates at which the slowdown was rate x cost, by the case of a suite that varies the rate."""
    likes = {
        case.id: case.like
        for folder in catalogue.suites
        for case in folder.suite.cases
        if folder.suite.factor and folder.suite.factor.name in OF_RATES and case.like
    }
    for number in {
        (number.tracer, number.case): number for number in current.values() if number.case in likes
    }.values():
        points = line(evidence_of(catalogue), number.submission.machine, number.tracer, likes[number.case])
        if points:
            key = f"{number.tracer}.{number.case}"
            held = f"{sum(point.holds for point in points)} of {len(points)}"
            title = "rates at which the slowdown is rate x cost, within their intervals"
            yield f"{key}.rates-held", _said(number, None, held, title)
            yield f"{key}.lowest-rate", _said(number, None, units.rate(points[0].rate_hz), "lowest rate measured")
            yield f"{key}.highest-rate", _said(number, None, units.rate(points[-1].rate_hz), "highest rate measured")


def _of_depth(catalogue: Catalogue, current: Mapping[str, Number]) -> Iterator[tuple[str, Fact]]:
    for number in (number for number in current.values() if number.level is None):
        if law := sample_law(evidence_of(catalogue), number.submission.machine, number.tracer, number.case):
            fact = _quantity(number, "cost", law.line.per_x, units.DURATION, "each frame that is walked: ")
            yield f"{number.tracer}.{number.case}.per-frame", fact


def _answer(catalogue: Catalogue, key: str) -> Fact | None:
    """The answer to `question/<id>[/range|/<rate>]` over all machines; None where none has it."""
    kind, _, rest = key.partition("/")
    name, _, form = rest.partition("/")
    asked = question(catalogue, name) if kind == "question" else None
    answer = of_all_machines(catalogue, asked) if asked else None
    if asked is None or answer is None or form not in ("", "range", *(SAMPLES_HZ if asked.of == "event" else ())):
        return None
    rate_hz = SAMPLES_HZ.get(form)
    time = answer.time if rate_hz is None else slowdown_at(answer.time, rate_hz)
    scale = units.DURATION if rate_hz is None else units.SHARE
    number = answer.replies[0].number
    where = answer.words if answer.machines > 1 else names.machine_name(number.submission)
    per = "" if asked.unit == "event" or rate_hz else f" per {asked.unit}"
    whole = f"{units.span(time, scale)}{per} on {where}"
    title = f"{asked.words}: the median of {whole}, from the least low to the greatest high end"
    value = f"{units.middle(time, scale)}{per} ({units.span(time, scale)} on {where})"
    return _fact(whole if form == "range" or asked.by else value, title, addresses.case(number.case), "measured")


def _of_two_costs(catalogue: Catalogue, submissions: Iterable[Submission], key: str) -> Fact | None:
    """The first cost over the second, or less it, of the first submission with both clear of noise, of one unit."""
    first, _, second = key.partition("/")
    is_less, second = second.startswith(LESS), second.removeprefix(LESS)
    for submission in submissions:
        number, other = (_clear(submission, name) for name in (first, second))
        if number is None or other is None:
            continue
        if len({calls_of_event(evidence_of(catalogue), side.case) for side in (number, other)}) > 1:
            return None
        sides = [units.interval(side.cost, units.DURATION) for side in (number, other)]
        if is_less:
            less = estimates.difference(number.known_cost, other.known_cost)
            return _quantity(number, "cost", less, units.DURATION, f"{sides[0]} less {sides[1]}: ")
        ratio = estimates.ratio(number.known_cost, other.known_cost)
        return _quantity(number, "cost", ratio, units.TIMES, f"{sides[0]} over {sides[1]}: ") if ratio else None
    return None


def _clear(submission: Submission, name: str) -> Number | None:
    """The number of `<tracer>.<case>[@<level>]`, where it is sound and clear of noise."""
    own = submission.cases.get(name.partition(".")[2].partition("@")[0], ())
    return next((number for number in own if number.name == name and number.is_sound and number.distinguishable), None)


def _of_run(catalogue: Catalogue, key: str) -> Fact | None:
    """The quantity that `<machine>/<run>/<one>.<quantity>` names, of that run; None where the run has no such."""
    run, _, quantity = key.rpartition("/")
    for number in (
        number for submission in catalogue.everything if submission.id == run for number in submission.numbers
    ):
        if quantity.startswith(f"{number.name}."):
            own = dict((*_of_tool(number), *_of_event(number, catalogue)))
            return own.get(quantity.removeprefix(f"{number.name}."))
    return None


def _of_one_machine(catalogue: Catalogue, key: str) -> str:
    """The key of the run whose quantity a sentence compares with other numbers of its machine; others as they are."""
    quantity, *others = key.split("/with/")
    name = quantity.rpartition(".")[0]
    for machine in dict.fromkeys(submission.machine for submission in in_order(catalogue.numbers) if others):
        has = {number.name: number for number in catalogue.numbers.of_machine(machine).values() if number.is_sound}
        if has.keys() >= {name, *others}:
            return f"{has[name].submission.id}/{quantity}"
    return key


Figures = Mapping[str, tuple[PublishedSource, Figure]]  # the key of a published figure, to its source and itself


def _of_figure(key: str, source: PublishedSource, figure: Figure) -> Iterator[tuple[str, Fact]]:
    caveat = ", known only from an excerpt" if source.from_excerpt else ""
    whose = "worked out here from figures of " if figure.is_derived else ""
    title = f"{figure.what}; {whose}{source.document.author}{caveat}"
    kind = "derived" if figure.is_derived else "published"
    yield key, _fact(printed_text(figure), title, addresses.figure(source.id, figure.figure), kind)
    if recomputed := source.recomputed.get(figure.figure):
        text = with_unit(float(recomputed.value), figure.unit)
        yield f"{key}.recomputed", _fact(text, f"{title}; computed again", addresses.figure(source.id), "derived")


def _of_figure_and_cost(figures: Figures, current: Mapping[str, Number], key: str) -> Fact | None:
    """What a published cost has more than one of ours, whichever machines both are of."""
    first, _, second = key.partition(f"/{LESS}")
    ours, (_, printed) = current.get(second), figures.get(first, (None, None))
    if not ours or not ours.distinguishable or printed is None or not printed.cost_ns:
        return None
    gap = estimates.difference(Estimate(*[float(printed.cost_ns)] * 3), ours.known_cost)
    words = f"{printed.what} less {units.interval(ours.cost, units.DURATION)}: "
    return _quantity(ours, "cost", gap, units.DURATION, words)


def _of_two_figures(figures: Figures, key: str) -> Fact | None:
    """Two figures of one source in units of one quantity; two digits, because the figures carry no intervals."""
    first, _, second = key.partition("/")
    if first not in figures or second not in figures:
        return None
    (source, figure), (other_source, other) = figures[first], figures[second]
    alike = figure.unit == other.unit or {figure.unit, other.unit} <= {"ns", "us", "ms", "s"}
    if source is not other_source or not alike or not other.base_value:
        return None
    both = f"{printed_text(figure)} over {printed_text(other)}"
    words = f"{both}: {figure.what}; {other.what}; from figures of {source.document.author}"
    ratio = units.quantity(float(figure.base_value / other.base_value), units.TIMES, 2)
    return _fact(ratio, words, addresses.figure(source.id, figure.figure), "derived")


def _current_counts(catalogue: Catalogue) -> dict[str, Number]:
    """The current count of each architecture, kernel series, tracer, case and level, where it is sound."""
    counts: dict[str, Number] = {}
    shown, over_releases = (set(counted(catalogue, narrow=narrow)) for narrow in (False, True))
    for number in catalogue.numbers.current("instructions"):
        machine, system = number.submission.document.machine, number.submission.document.system
        key = f"{names.release_series(system.kernel_release)}.{number.name}"
        architecture = names.architecture(machine.architecture)
        start = "instructions" if architecture == names.X86_64 else f"instructions.{architecture}"
        if number.is_sound and number.submission in shown:
            counts.setdefault(f"{start}.{key}", number)
        if number.is_sound and number.submission in over_releases:
            counts.setdefault(f"{start}.{names.point_release(system.kernel_release)}.{number.name}", number)
        if number.is_sound and machine.threads == 1:
            counts.setdefault(f"{start}.one-cpu.{key}", number)
    return counts


def _count(number: Number) -> Fact:
    tool, machine = names.tool_with_version(number), names.machine_name(number.submission)
    title = f"{instructions.count(number.cost)} instructions per event; {tool}; {machine}"
    return _fact(units.count(number.known_cost.value), title, addresses.number(number, "instructions"), "counted")


def _of_two_counts(counts: Mapping[str, Number], key: str) -> Fact | None:
    """The ratio of two counts, or the share of one that functions of a purpose execute."""
    first, _, second = key.partition("/")
    count, other = counts.get(first), counts.get(second)
    if count is None:
        return None
    if other is not None:
        least = other.known_cost.value
        ratio = units.quantity(count.known_cost.value / least if least else None, units.TIMES, 2)
        return _count(count) | {"text": ratio, "title": " over ".join(_count(side)["title"] for side in (count, other))}
    part, _, purpose = second.partition("/")
    if part == "part" and (path := executed_of(count)):
        shares = {name.replace(" ", "-"): subtotal.instructions for name, subtotal in path.by_purpose().items()}
        if own := shares.get(purpose):
            return _count(count) | {"text": units.percent(own / path.total.instructions)}
    return None


def _of_data(catalogue: Catalogue) -> Iterator[tuple[str, Fact]]:
    submissions = catalogue.active
    traced = {number.tracer for submission in submissions for number in submission.numbers if number.status == "ok"}
    sizes = {
        "machines": (len(catalogue.numbers.machines()), "/machines/"),
        "submissions": (len(submissions), "/results/"),
        "rows": (sum(submission.rows for submission in submissions), "/data/"),
        "suites": (len(catalogue.suites), "/suites/"),
        "cases": (len(catalogue.cases()), "/costs/"),
        "tracers": (len({names.tool_of(tracer) for tracer in traced}), "/tracers/"),
        "kernels": (len({submission.document.system.kernel_release for submission in catalogue.counted}), "/kernels/"),
        "sources": (len(catalogue.sources), "/sources/"),
        "figures": (sum(len(source.figures) for source in catalogue.sources), "/sources/"),
    }
    if machines := catalogue.numbers.machines():
        kinds = names.all_kinds([runs[0] for runs in machines.values()])
        yield "count.kinds", _fact(kinds, "machines that were timed", "/machines/", "counted")
    for what, (size, page) in sizes.items():
        yield f"count.{what}", _fact(units.count(size), f"{what} in the data", page, "counted")


SCALES = {"slowdown": units.SHARE, "loss": units.SHARE, "threshold": units.EVENTS, "instructions": units.INSTRUCTIONS}
SCALES |= dict.fromkeys(("times", "ratio", "instructions ratio"), units.TIMES)
SIZES = {"slowdown": 0.01, "loss": 0.01, "start": 1e6, "stop": 1e6}
"""How a quantity is written, if not as a duration, and the unit of `above` and `below`, if not that of our numbers."""


@once
def verdicts(catalogue: Catalogue) -> Sequence[Values]:
    """Each claim as the file has it, its verdict, and the least and the greatest number on each side.

    How the verdict is decided `content/claims/_index.md` says to readers.
    """
    told = []
    for claim in catalogue.claims:
        findings = sorted(_findings(catalogue, claim), key=itemgetter("value"))
        fits = Counter(finding["fits"] for finding in findings)
        verdict = "holds if" if fits["yes"] else "cannot be said"
        if claim.only_refutes:
            verdict = "does not hold" if fits["no"] else "cannot be said"
        elif len(fits) == 1:  # how all numbers fit
            verdict = {"yes": "holds", "no": "does not hold", "if": "holds if"}.get(next(iter(fits)), verdict)
        sides = ([finding for finding in findings if finding["fits"] == side] for side in ("if", "yes", "no", "open"))
        told.append(
            claim.model_dump()
            | {
                "numbers": ", ".join(claim.numbers),
                "verdict": verdict,
                "compared": len(findings),
                "fitting": fits["yes"] + fits["if"],
                "least": findings[0]["value"] if findings else None,
                "greatest": findings[-1]["value"] if findings else None,
                "day": names.date_words(claim.date),
                "rate": claim.rate_hz and units.stated(claim.rate_hz, units.EVENTS),
                "figures": [finding for side in sides for finding in (*side[:1], *side[1:][-1:])],
            }
        )
    return told


def _findings(catalogue: Catalogue, claim: Claim) -> Iterator[Values]:
    """Each number with the quantity of a claim; it `fits` if it has an interval, all of it in the claim's range."""
    above, below = (end and end * SIZES.get(claim.quantity, 1) for end in (claim.above, claim.below))
    scale = SCALES.get(claim.quantity, units.DURATION)
    kind: Metric = "instructions" if claim.quantity.startswith("instructions") else "time"
    for number in catalogue.numbers.current(kind):
        is_lossy = number.has_losses and claim.quantity not in {"loss", "start", "stop"}
        is_named = not number.faults and any(fnmatchcase(number.name, key) for key in claim.numbers)
        if is_named and not is_lossy and (value := _value(catalogue, claim, number)) is not None:
            yield {
                "value": value.value,
                "fits": "if" if claim.quantity == "threshold" else _fits(value, above, below),
                "text": units.interval(value, scale) if number.is_time else units.quantity(value.value, scale, 3),
                "of": f"{names.with_level(number)}, {names.tool_with_version(number)}, "
                f"{names.machine_name(number.submission)}",
                "href": addresses.number(number),
            }


def _value(catalogue: Catalogue, claim: Claim, number: Number) -> Estimate | None:
    """In ns, instructions, events per second or a ratio; None where the number has none."""
    cost = partial(cost_of_event, catalogue)
    if claim.quantity in {"start", "stop"}:
        return number.event.attach if claim.quantity == "start" else number.event.detach
    if claim.quantity == "times":
        return number.time.slowdown and number.time.slowdown.mapped(lambda more: 1 + more)
    if claim.quantity == "loss":
        return None if number.event.loss_ratio is None else Estimate(*[number.event.loss_ratio] * 3)
    if claim.quantity == "threshold" or number.cost is None:
        return number.threshold(claim.below or 1)
    if second := claim.over or claim.less:
        key, joined = second.replace("*", number.tracer), estimates.ratio if claim.over else estimates.difference
        others = (cost(other) for other in number.submission.numbers if other.leads and other.name == key)
        return next((joined(cost(number), beside) for beside in others), None)
    return cost(number) if claim.rate_hz is None else slowdown_at(cost(number), claim.rate_hz)


def _fits(value: Estimate, above: float | None, below: float | None) -> str:
    least, most = float("-inf") if above is None else above, float("inf") if below is None else below
    if value.low is None or value.high is None or value.low < least <= value.high or value.low <= most < value.high:
        return "open"
    return "yes" if least <= value.low and value.high <= most else "no"
