"""The page that asks whether rate x cost predicts what tracing does to real programs."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from markupsafe import Markup

from probe_effect import units
from probe_effect.answer import proof
from probe_effect.answer.proof import NEAR_RATIO, Agreed, ProgramPair, verdict
from probe_effect.answer.spread import coverage, left_out, program_pairs, spreads
from probe_effect.costs.evidence import Evidence, evidence
from probe_effect.costs.row import SAMPLED
from probe_effect.numbers import index, names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by
from probe_effect.records import known_tool
from probe_effect.site.charts.slowdown import PredictedPair, predicted_chart
from probe_effect.site.charts.theme import Chart
from probe_effect.site.pages import comparison, links
from probe_effect.site.pages.parts import Heading, Items, Part, Table, chart, columns, fold, fragment
from probe_effect.site.pages.text import listed, say, together

CHART, SCRIPTS_CHART, SAMPLES_CHART = "does-it-hold", "scripts-hold", "samples-hold"
KINDS = {
    "plain": "counts, stores or filters",
    "stack": "takes stacks",
    "print": "prints each event",
    "stop": "stops the program",
    "sample": "samples",
}
TITLES = {
    CHART: "Slowdown of real programs, predicted and measured",
    SCRIPTS_CHART: "Slowdown by whole scripts",
    SAMPLES_CHART: "Slowdown by 4,999 samples a second",
}
NOTHING = {
    "repeats-hold": say("Too little was measured more than once on one machine."),
    CHART: say("No machine has traced real programs yet: `probe-effect measure programs` does."),
    SCRIPTS_CHART: say("No machine has run scripts over real programs yet: `probe-effect measure scripts` does."),
    SAMPLES_CHART: say("No machine has sampled real programs yet: `probe-effect measure sampling-programs` does."),
    "calibrated-hold": say(
        "No machine has timed scripts in a loop of their own before they ran over programs; "
        "`probe-effect measure programs scripts` does."
    ),
    "programs-spread": say(
        "No machine has traced enough real programs yet: `probe-effect measure programs scripts` does."
    ),
}
MEDIAN = ("of-predicted", "Median, of predicted")


def of_clearest(found: Sequence[ProgramPair]) -> list[ProgramPair]:
    """The pairs of the machine with most clear slowdowns: one, so that the page does not grow with others."""
    by_machine = grouped_by(found, lambda one: one.measured.submission.machine)
    return max(by_machine.values(), key=lambda own: sum(one.is_visible for one in own), default=[])


def by_section(found: Evidence) -> dict[str, list[ProgramPair]]:
    """The chart of each section to its pairs: of probes and tools, of scripts by their text, of samples."""

    def section(one: ProgramPair) -> str | None:
        case, tool = found.case_of[one.measured.case], known_tool(one.measured.tracer)
        if case.probe == SAMPLED:  # a sampler that is like no loop is in the table alone
            return SAMPLES_CHART if case.like else None
        return SCRIPTS_CHART if case.like is None and tool and tool.language in proof.PROGRAMMED else CHART

    made = grouped_by(program_pairs(found), section)
    return {name: made.get(name, []) for name in TITLES}


def write(catalogue: Catalogue) -> dict[str, str]:
    known = evidence(catalogue)
    made = {name: _of_chart(name, of_clearest(own)) for name, own in by_section(known).items()}
    made |= {"calibrated-hold": _calibrated(known), "programs-spread": _spread(known)}
    made["repeats-hold"] = _repeats(catalogue)
    return {f"{name}.md": fragment([*found] or [NOTHING[name]]) for name, found in made.items()}


def _repeats(catalogue: Catalogue) -> Iterator[Part]:
    groups = index.repeated(catalogue.timed)
    share = index.spread_between_runs(groups.values())
    if share is None:
        return
    pairs = index.pairs_of(groups.values())
    yield say(
        "{} costs were measured more than once on one machine by one version of suite and tool, in {} runs. "
        "Beside what each run does not know itself, runs differ by a standard deviation of {} of the cost.",
        units.count(len(groups)),
        len({pair.one.submission for pair in pairs}),
        units.percent(share),
    )
    by_suite = grouped_by(pairs, lambda pair: pair.one.submission.suite)
    titles = {one.suite.id: one.suite.title for one in catalogue.suites}
    rows: list[Sequence[object]] = []
    of_suites = [(links.suite(suite, titles.get(suite)), own) for suite, own in by_suite.items()]
    for name, own in (*of_suites, ("all", pairs)):
        inside = (sum(pair.is_inside(spread) for pair in own) / len(own) for spread in (None, share))
        rows.append((name, units.count(len(own)), *map(units.percent, inside)))
    yield Table(columns("suite", "repeated-runs", "inside-own", "inside-next"), rows)
    yield "How far a clear cost is from its repetition, by its grade:"
    by_grade, rows = grouped_by((pair for pair in pairs if pair.one.is_clear), lambda pair: pair.one.trust[0]), []
    for grade in sorted(by_grade):
        far = sorted(pair.distance_ratio for pair in by_grade[grade])
        half, most = median(far), far[int(0.9 * len(far))]
        rows.append((grade, units.count(len(far)), units.percent(half), units.percent(most)))
    yield Table(columns("grade", "repeated-runs", "repetition-half", "repetition-most"), rows)


def _spread(found: Evidence) -> Iterator[Part]:
    rows = []
    for kind, one in spreads(found).items():
        middle, low, high = (_times(end) for end in one.ratio)
        ends, tested = f"{low} to {high}{'' if one.is_own else ' (all kinds)'}", coverage(found, kind)
        pairs, inside = (one.measured, one.pairs, one.clear), units.percent(tested.inside_ratio)
        rows.append((KINDS[one.kind], ends, middle, *pairs, one.machines, tested.tested, inside))
    if not rows:
        return
    heads = columns("script-kind", "program-range", MEDIAN, "traced-pairs", "predicted-pairs", "clear-pairs")
    yield Table([*heads, *columns("traced-machines", "tested-pairs", "inside-share")], rows)
    missing = grouped_by(left_out(found), lambda one: (one.measured.case, one.measured.tracer, one.why))
    items = []
    for (case, tracer, why), some in missing.items():
        programs = f"{len(some)} program{'' if len(some) == 1 else 's'}"
        items.append(say("{} with {}, {}: {}.", links.case(case, some[0].measured.title), tracer, programs, why))
    yield from fold("What was measured and has no prediction, so that it is in no row", Items(items))


def _of_chart(name: str, found: Sequence[ProgramPair]) -> Iterator[Part]:
    if not found:
        return
    where, is_first = names.machine_name(found[0].measured.submission), name == CHART
    on = say("On {}:", where)
    if name == SAMPLES_CHART:
        ways = grouped_by(found, lambda one: links.case(one.measured.case, one.measured.title))
        yield on
        yield Items([say("{}: {}", case, _came_to(own, "a way to sample it")) for case, own in ways.items()])
    elif is_first:
        yield together(on, _came_to(found, "a probe", [replace(one, point=one.plain) for one in found]))
    else:
        tau, agree = proof.order(found), "predicted and measured agree with Kendall’s tau"
        ordered = say(" Put in order by slowdown, {} {}.", agree, comparison.tau(tau)) if tau else ""
        yield together(on, _came_to(found, "a script") + ordered)
    yield chart(name)
    yield Heading("Those that are furthest from it") if is_first else None
    largest_first = "" if is_first else ", the largest first"
    yield say("The table has those with a clear slowdown on {}{}.", where, largest_first)
    visible = [one for one in found if one.is_visible]
    clear = _clear(visible)
    if is_first:
        clear = sorted(visible, key=lambda one: math.inf if one.ratio is None else abs(one.ratio - 1), reverse=True)
    tracer = ["tracer"] if is_first else []
    heads = columns("program", "case", *tracer, "untraced-rate", "predicted", "slowdown", "of-predicted")
    yield Table(heads, [_row(one, *(one.measured.tracer for _ in tracer)) for one in clear])


def _calibrated(known: Evidence) -> Iterator[Part]:
    found = of_clearest(proof.calibrated_pairs(known))
    if not found:
        return
    suites = {one.measured.id: one for one in program_pairs(known)}
    both = [one for one in found if one.measured.id in suites]
    where, programs = names.machine_name(found[0].measured.submission), len({one.measured.level for one in found})
    timed = "On {}, each script was also timed in a loop just before it ran over {} programs."
    same = "The first two rows below are of the same pairs." if both else ""
    yield together(say(timed, where, programs), _came_to(found, "a script"), same)
    ways = {
        "the machine's suites": [suites[one.measured.id] for one in both],
        "a loop before the run": both,
        "a loop before the run, all pairs": found,
    }
    rows: list[Sequence[object]] = []
    for way, came in ((way, verdict(some)) for way, some in ways.items() if some):
        near, _, middle, meet = _shares(came)
        rows.append((way, came.pairs, came.visible, near, middle, meet))
    yield Table(columns("cost-way", "traced-pairs", "clear-pairs", "near-share", MEDIAN, "overlap-share"), rows)
    yield say("The next table has those with a clear slowdown on {}, the largest first.", where)
    rows = []
    for one in _clear(found):
        other = suites.get(one.measured.id)
        rows.append((*_row(one), _times(other.ratio if other and other.is_visible else None)))
    by_loop, by_suites = ("predicted", "Predicted in the loop"), ("of-predicted", "Of that by suites")
    yield Table(columns("program", "case", "untraced-rate", by_loop, "slowdown", "of-predicted", by_suites), rows)


def _row(one: ProgramPair, *tracer: str) -> Sequence[object]:
    number, point = one.measured, one.point
    measured = links.number(number, "slowdown", units.interval(point.measured, units.SHARE))
    case, predicted = links.case(number.case, number.title), units.interval(point.predicted, units.SHARE)
    return number.level, case, *tracer, units.rate(point.rate_hz), predicted, measured, _times(one.ratio)


def _came_to(found: Sequence[ProgramPair], what: str, alone: Sequence[ProgramPair] = ()) -> Markup:
    came, plain = verdict(found), verdict(alone)
    pairs = "{} pairs of a program and {} have a prediction, and {} of them show a clear slowdown of more than {}."
    said = [say(pairs, came.pairs, what, came.visible, units.percent(proof.VISIBLE_RATIO))]
    if came.middle_ratio is not None:
        words = (
            "Of these, {} are within {} of the prediction, the median is {} times the prediction, and the intervals of "
            "{} overlap."
        )
        said.append(say(words, *_shares(came)))
    if plain.middle_ratio is not None and plain != came:
        words = (
            "By rate times cost alone, without the cost to other system calls, {} would be within {}, the median would "
            "be {} times the prediction, and the intervals of {} would overlap."
        )
        said.append(say(words, *_shares(plain)))
    return listed(said, " ")


def _shares(one: Agreed) -> tuple[str, str, str, str]:
    near, meet = units.percent(one.near_ratio), units.percent(one.meet_ratio)
    return near, units.percent(NEAR_RATIO), _times(one.middle_ratio), meet


def _times(ratio: float | None) -> str:
    return units.MISSING if ratio is None else units.significant(ratio, 2)


def _clear(found: Sequence[ProgramPair]) -> list[ProgramPair]:
    return sorted((one for one in found if one.is_visible), key=lambda one: -one.point.measured.value)


def charts(catalogue: Catalogue, known: Evidence) -> list[Chart]:
    """Every pair as a dot, of chosen probes and of scripts apart; none before programs were traced."""
    probes, drawn = {case.id: case.probe for case in catalogue.cases()}, []
    for name, found in ((name, of_clearest(own)) for name, own in by_section(known).items() if own):
        dots, is_script = [], name == SCRIPTS_CHART
        for one in found:
            number, title = one.measured, one.measured.title
            by_probe = (number.level or "", f"{title.replace(' of a program', '')}, {number.tracer}")
            words = (title, number.level or "") if is_script else by_probe
            family = _family(probes[number.case], number.tracer)
            dots.append(PredictedPair(*words, family, one.point.predicted, one.point.measured, one.is_visible))
        what = "script over a program" if is_script else "program under one probe"
        clear = f"{sum(one.is_visible for one in found)} of {len(found)} are shown, those that are clear."
        where = names.machine_name(found[0].measured.submission)
        sentence = f"Each dot is one {what}, on {where}; in the grey band the prediction is near. {clear}"
        chart = predicted_chart(name, TITLES[name], sentence, dots, near_ratio=NEAR_RATIO, page="/does-it-hold/")
        drawn.append(chart)
    return drawn


def _family(probe: str, tracer: str) -> str:
    """What is probed, in few words; strace stops the process besides, which sets its programs apart."""
    if tracer.startswith("strace"):
        return "strace"
    if probe == SAMPLED:
        return "samples"
    return "functions of programs" if "uprobe" in probe else "static probes of the kernel"
