"""What hand-written pages quote: every number by key, in `facts.json`, and the verdict of our numbers on claims.

Keys of times are in `exports.measured_facts`. The others:

- `instructions.<kernel series>.<tracer>.<case>[@<level>]`: instructions per event, counted in an emulated machine of
  x86-64, as pages show them; `instructions.arm64.<..>` on arm64.
- `instructions.<point release>.<..>`: the same of one release, `6.12.43`, of those of the series over releases too.
- `instructions.one-cpu.<..>` and `instructions.arm64.one-cpu.<..>`: those counted where the tracer shares the only CPU.
- `<source>.<figure>`: a published figure as printed, or derived from such; `<source>.<figure>.recomputed`: what its
  formula gives.
- `count.<machines|submissions|rows|suites|cases|tracers|kernels|sources|figures>`: how much data there is;
  `count.kinds`: which kinds of machines were timed, and how many CPUs they have.
- `<key>/<key>`: the ratio of two figures of one source, or of two counts, where a page asks for it.
- `instructions.<..>/part/<purpose>`: the share of a count that functions of one purpose execute, of a name in
  `purposes.toml` with dashes (`kprobe-and-ftrace`); where the events were recorded, and a page asks for it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from operator import itemgetter
from pathlib import Path

from probe_effect import units
from probe_effect.compare.kernels import counted
from probe_effect.model import Estimate, Metric
from probe_effect.numbers import estimates, names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource
from probe_effect.numbers.index import once
from probe_effect.numbers.published import printed_text, with_unit
from probe_effect.numbers.submission import Number, slowdown_at
from probe_effect.site import measured_facts
from probe_effect.site.costs import NamedTables
from probe_effect.site.measured_facts import Fact, fact
from probe_effect.site.pages import addresses, instructions
from probe_effect.site.pages.instructions import executed_of
from probe_effect.site.script_values import Values
from probe_effect.store.beside_files import Claim, Figure

NUMBER = re.compile(r'\{\{<\s*number\s+"([^"]+)"(?:\s+"?([^\s">]+)"?)?\s*>\}\}')
"""A number that a page quotes, with the unit that it wants or another word."""

QUESTION = re.compile(r'\{\{<\s*question\s+"([^"]+)"(?:\s+"?(\w+)"?)?\s*>\}\}')
"""A question that a page asks, with its form."""

AWAITED = re.compile(r"\{\{<\s*(?:un)?known\s+([^>]+?)\s*>\}\}")
"""Keys that a page waits for."""

PART = "part/"

DURATIONS = ("ns", "us", "ms", "s")

UNITS = {one.name for scale in (units.DURATION, units.RATE) for one in scale.units}


def facts(catalogue: Catalogue, ratios: Iterable[str] = ()) -> dict[str, Fact]:
    """Key to fact; of `ratios`, which are wanted beside all others, one that cannot be made is left out."""
    figures = {f"{source.id}.{one.figure}": (source, one) for source in catalogue.sources for one in source.figures}
    counts = _current_counts(catalogue)
    found = measured_facts.facts(catalogue, ratios) | dict(_data(catalogue))
    found |= {key: _count(one) for key, one in counts.items()}
    found |= dict(pair for source in catalogue.sources for pair in _published(source))
    for key in ratios:
        first, _, second = key.partition("/")
        if first in figures and second in figures and (ratio := _ratio(figures[first], figures[second])):
            found[key] = ratio
        if first in counts and second in counts:
            found[key] = _ratio_of_counts(counts[first], counts[second])
        if second.startswith(PART) and first in counts and (path := executed_of(counts[first])):
            parts = {name.replace(" ", "-"): one.instructions for name, one in path.by_purpose().items()}
            if own := parts.get(second.removeprefix(PART)):
                found[key] = _count(counts[first]) | {"text": units.percent(own / path.total.instructions)}
    return found


def written(content: Path) -> list[str]:
    """The texts of the hand-written pages."""
    return [path.read_text(encoding="utf-8") for path in sorted(content.rglob("*.md"))]


def asked_for(texts: Iterable[str]) -> dict[str, set[str]]:
    """The keys of all that some pages quote, each with the units in which a table there wants it."""
    asked: dict[str, set[str]] = {}
    for text in texts:
        for key, word in NUMBER.findall(text):
            asked.setdefault(key, set()).update({word} & UNITS)
        for parts in QUESTION.findall(text):
            asked.setdefault("/".join(filter(None, ("question", *parts))), set())
        for keys in AWAITED.findall(text):
            asked |= {key: set() for key in re.findall(r'"([^"]+)"', keys) if key not in asked}
    return asked


def quoted(
    catalogue: Catalogue, project: Path, fragments: Iterable[str] = ()
) -> tuple[dict[str, Fact], dict[str, str]]:
    """What the pages of a checkout quote, with their `fragments`: key to fact, and file name to named table."""
    asked = asked_for([*written(project / "content"), *fragments])
    found = facts(catalogue, asked)
    tables = NamedTables(catalogue, found)
    named = dict(tables.write(project / "site" / "tables.toml"))
    kept = {key: found[key] | _in_units(found[key], names) for key, names in asked.items() if key in found}
    return {"machine": found["machine"]} | kept | tables.facts if "machine" in found else kept, named


def _in_units(fact: Fact, wanted: Iterable[str]) -> Fact:
    """The text of a fact in other units, by their names."""
    text = fact["text"]
    of = text.writing.scale.units if isinstance(text, units.Quantity) else ()
    return {one.name: str(text.to(one)) for one in of if one.name in wanted and isinstance(text, units.Quantity)}


def _published(source: PublishedSource) -> Iterator[tuple[str, Fact]]:
    for figure in source.figures:
        known = ", known only from an excerpt" if source.from_excerpt else ""
        whose = "worked out here from figures of " if figure.is_derived else ""
        key, title = f"{source.id}.{figure.figure}", f"{figure.what}; {whose}{source.document.author}{known}"
        kind = "derived" if figure.is_derived else "published"
        yield key, fact(printed_text(figure), title, addresses.figure(source.id, figure.figure), kind)
        if recomputed := source.recomputed.get(figure.figure):
            text = with_unit(float(recomputed.value), figure.unit)
            yield f"{key}.recomputed", fact(text, f"{title}; computed again", addresses.figure(source.id), "derived")


def _ratio(first: tuple[PublishedSource, Figure], second: tuple[PublishedSource, Figure]) -> Fact | None:
    """Two figures of one source in units of one quantity; two digits, because the figures carry no intervals."""
    (source, one), (other_source, other) = first, second
    alike = one.unit == other.unit or {one.unit, other.unit} <= set(DURATIONS)
    if source is not other_source or not alike or not other.base_value:
        return None
    both = f"{printed_text(one)} over {printed_text(other)}"
    words = f"{both}: {one.what}; {other.what}; from figures of {source.document.author}"
    ratio = units.quantity(float(one.base_value / other.base_value), units.TIMES, 2)
    return fact(ratio, words, addresses.figure(source.id, one.figure), "derived")


def _current_counts(catalogue: Catalogue) -> dict[str, Number]:
    """The current count of each architecture, kernel series, tracer, case and level, where it is sound."""
    found: dict[str, Number] = {}
    shown, over_releases = (set(counted(catalogue, narrow=narrow)) for narrow in (False, True))
    for one in catalogue.numbers.current("instructions"):
        machine, system = one.submission.document.machine, one.submission.document.system
        key = f"{names.release_series(system.kernel_release)}.{one.name}"
        architecture = names.architecture(machine.architecture)
        start = "instructions" if architecture == names.X86_64 else f"instructions.{architecture}"
        if one.is_sound and one.submission in shown:
            found.setdefault(f"{start}.{key}", one)
        if one.is_sound and one.submission in over_releases:
            found.setdefault(f"{start}.{names.point_release(system.kernel_release)}.{one.name}", one)
        if one.is_sound and machine.threads == 1:
            found.setdefault(f"{start}.one-cpu.{key}", one)
    return found


def _count(one: Number) -> Fact:
    tool, machine = names.tool_with_version(one), names.machine_name(one.submission)
    title = f"{instructions.count(one.cost)} instructions per event; {tool}; {machine}"
    return fact(units.count(one.known_cost.value), title, addresses.number(one, "instructions"), "counted")


def _ratio_of_counts(first: Number, second: Number) -> Fact:
    one, other = first.known_cost.value, second.known_cost.value
    sides = " over ".join(_count(side)["title"] for side in (first, second))
    return _count(first) | {"text": units.quantity(one / other if other else None, units.TIMES, 2), "title": sides}


def _data(catalogue: Catalogue) -> Iterator[tuple[str, Fact]]:
    """How much there is of everything."""
    submissions = catalogue.active
    traced = {number.tracer for one in submissions for number in one.numbers if number.status == "ok"}
    sizes = {
        "machines": (len(catalogue.numbers.machines()), "/machines/"),
        "submissions": (len(submissions), "/results/"),
        "rows": (sum(one.rows for one in submissions), "/data/"),
        "suites": (len(catalogue.suites), "/suites/"),
        "cases": (len(catalogue.cases()), "/costs/"),
        "tracers": (len({names.tool_of(tracer) for tracer in traced}), "/tracers/"),
        "kernels": (len({one.document.system.kernel_release for one in catalogue.counted}), "/kernels/"),
        "sources": (len(catalogue.sources), "/sources/"),
        "figures": (sum(len(source.figures) for source in catalogue.sources), "/sources/"),
    }
    if machines := catalogue.numbers.machines():
        kinds = names.all_kinds([found[0] for found in machines.values()])
        yield "count.kinds", fact(kinds, "machines that were timed", "/machines/", "counted")
    for what, (size, page) in sizes.items():
        yield f"count.{what}", fact(units.count(size), f"{what} in the data", page, "counted")


SCALES = {"slowdown": units.SHARE, "loss": units.SHARE, "threshold": units.EVENTS, "instructions": units.INSTRUCTIONS}
SCALES |= dict.fromkeys(("times", "ratio", "instructions ratio"), units.TIMES)
SIZES = {"slowdown": 0.01, "loss": 0.01, "start": 1e6, "stop": 1e6}
"""How a quantity is written, if not as a duration, and the unit of `above` and `below`, if not that of our numbers."""

VERDICTS: Mapping[tuple[str, ...], str] = {("yes",): "holds", ("no",): "does not hold", ("if",): "holds if"}
"""How all numbers of a claim fit, where that is one word, to its verdict."""


@once
def verdicts(catalogue: Catalogue) -> Sequence[Values]:
    """Each claim as the file has it, its verdict, and the least and the greatest number on each side."""
    return [_told(claim, list(_findings(catalogue, claim))) for claim in catalogue.claims]


def _findings(catalogue: Catalogue, claim: Claim) -> Iterator[Values]:
    """Each number with the quantity of a claim; it `fits` if it has an interval, all of it in the claim's range."""
    above, below = (end and end * SIZES.get(claim.quantity, 1) for end in (claim.above, claim.below))
    scale = SCALES.get(claim.quantity, units.DURATION)
    kind: Metric = "instructions" if claim.quantity.startswith("instructions") else "time"
    for one in catalogue.numbers.current(kind):
        is_lossy = one.has_losses and claim.quantity not in {"loss", "start", "stop"}
        is_named = not one.faults and any(fnmatchcase(one.name, key) for key in claim.numbers)
        if is_named and not is_lossy and (value := _value(catalogue, claim, one)) is not None:
            yield {
                "value": value.value,
                "fits": "if" if claim.quantity == "threshold" else _fits(value, above, below),
                "text": units.interval(value, scale) if one.is_time else units.quantity(value.value, scale, 3),
                "of": f"{one.title}, {names.tool_with_version(one)}, {names.machine_name(one.submission)}",
                "href": addresses.number(one),
            }


def _value(catalogue: Catalogue, claim: Claim, one: Number) -> Estimate | None:
    """In ns, instructions, events per second or a ratio; None where the number has none."""
    cost = partial(measured_facts.cost_of_event, catalogue)
    if claim.quantity in {"start", "stop"}:
        return one.event.attach if claim.quantity == "start" else one.event.detach
    if claim.quantity == "times":
        return one.time.slowdown and one.time.slowdown.mapped(lambda more: 1 + more)
    if claim.quantity == "loss":
        return None if one.event.loss_ratio is None else Estimate(*[one.event.loss_ratio] * 3)
    if claim.quantity == "threshold" or one.cost is None:
        return one.threshold(claim.below or 1)
    if second := claim.over or claim.less:
        key, joined = second.replace("*", one.tracer), estimates.ratio if claim.over else estimates.difference
        others = (cost(other) for other in one.submission.numbers if other.leads and other.name == key)
        return next((joined(cost(one), beside) for beside in others), None)
    return cost(one) if claim.rate_hz is None else slowdown_at(cost(one), claim.rate_hz)


def _fits(value: Estimate, above: float | None, below: float | None) -> str:
    least, most = float("-inf") if above is None else above, float("inf") if below is None else below
    if value.low is None or value.high is None or value.low < least <= value.high or value.low <= most < value.high:
        return "open"
    return "yes" if least <= value.low and value.high <= most else "no"


def _verdict(claim: Claim, fits: Counter[str]) -> str:
    """How it is decided: `content/claims.md` says it to readers."""
    if claim.only_refutes:
        return "does not hold" if fits["no"] else "cannot be said"
    return VERDICTS.get(tuple(fits), "holds if" if fits["yes"] else "cannot be said")


def _told(claim: Claim, found: Sequence[Values]) -> Values:
    fits, ordered = Counter(one["fits"] for one in found), sorted(found, key=itemgetter("value"))
    sides = ([one for one in ordered if one["fits"] == side] for side in ("if", "yes", "no", "open"))
    return claim.model_dump() | {
        "numbers": ", ".join(claim.numbers),
        "verdict": _verdict(claim, fits),
        "compared": len(found),
        "fitting": fits["yes"] + fits["if"],
        "least": ordered[0]["value"] if found else None,
        "greatest": ordered[-1]["value"] if found else None,
        "day": names.date_words(claim.date),
        "figures": [one for side in sides for one in (*side[:1], *side[1:][-1:])],
    }
