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
from probe_effect.costs.evidence import Evidence, evidence_of
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


def of_clearest(pairs: Sequence[ProgramPair]) -> list[ProgramPair]:
    """The pairs of the machine with most clear slowdowns: one, so that the page does not grow with others."""
    by_machine = grouped_by(pairs, lambda pair: pair.measured.submission.machine)
    return max(by_machine.values(), key=lambda own: sum(pair.is_visible for pair in own), default=[])


def by_section(evidence: Evidence) -> dict[str, list[ProgramPair]]:
    """The chart of each section to its pairs: of probes and tools, of scripts by their text, of samples."""

    def section(pair: ProgramPair) -> str | None:
        case, tool = evidence.case_of[pair.measured.case], known_tool(pair.measured.tracer)
        if case.probe == SAMPLED:  # a sampler that is like no loop is in the table alone
            return SAMPLES_CHART if case.like else None
        return SCRIPTS_CHART if case.like is None and tool and tool.language in proof.PROGRAMMED else CHART

    made = grouped_by(program_pairs(evidence), section)
    return {name: made.get(name, []) for name in TITLES}


def write(catalogue: Catalogue) -> dict[str, str]:
    evidence = evidence_of(catalogue)
    made = {name: _of_chart(name, of_clearest(own)) for name, own in by_section(evidence).items()}
    made |= {"calibrated-hold": _calibrated(evidence), "programs-spread": _spread(evidence)}
    made["repeats-hold"] = _repeats(catalogue)
    return {f"{name}.md": fragment([*body] or [NOTHING[name]]) for name, body in made.items()}


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
    titles = {folder.suite.id: folder.suite.title for folder in catalogue.suites}
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


def _spread(evidence: Evidence) -> Iterator[Part]:
    rows = []
    for kind, spread in spreads(evidence).items():
        middle, low, high = (_times(end) for end in spread.ratio)
        ends, tested = f"{low} to {high}{'' if spread.is_own else ' (all kinds)'}", coverage(evidence, kind)
        pairs, inside = (spread.measured, spread.pairs, spread.clear), units.percent(tested.inside_ratio)
        rows.append((KINDS[spread.kind], ends, middle, *pairs, spread.machines, tested.tested, inside))
    if not rows:
        return
    heads = columns("script-kind", "program-range", MEDIAN, "traced-pairs", "predicted-pairs", "clear-pairs")
    yield Table([*heads, *columns("traced-machines", "tested-pairs", "inside-share")], rows)
    missing = grouped_by(
        left_out(evidence), lambda omission: (omission.measured.case, omission.measured.tracer, omission.why)
    )
    items = []
    for (case, tracer, why), some in missing.items():
        programs = f"{len(some)} program{'' if len(some) == 1 else 's'}"
        items.append(say("{} with {}, {}: {}.", links.case(case, some[0].measured.title), tracer, programs, why))
    yield from fold("What was measured and has no prediction, so that it is in no row", Items(items))


def _of_chart(name: str, pairs: Sequence[ProgramPair]) -> Iterator[Part]:
    if not pairs:
        return
    where, is_first = names.machine_name(pairs[0].measured.submission), name == CHART
    on = say("On {}:", where)
    if name == SAMPLES_CHART:
        ways = grouped_by(pairs, lambda pair: links.case(pair.measured.case, pair.measured.title))
        yield on
        yield Items([say("{}: {}", case, _came_to(own, "a way to sample it")) for case, own in ways.items()])
    elif is_first:
        yield together(on, _came_to(pairs, "a probe", [replace(pair, point=pair.plain) for pair in pairs]))
    else:
        tau, agree = proof.order(pairs), "predicted and measured agree with Kendall’s tau"
        ordered = say(" Put in order by slowdown, {} {}.", agree, comparison.tau(tau)) if tau else ""
        yield together(on, _came_to(pairs, "a script") + ordered)
    yield chart(name)
    yield Heading("Those that are furthest from it") if is_first else None
    largest_first = "" if is_first else ", the largest first"
    yield say("The table has those with a clear slowdown on {}{}.", where, largest_first)
    visible = [pair for pair in pairs if pair.is_visible]
    clear = _clear(visible)
    if is_first:
        clear = sorted(visible, key=lambda pair: math.inf if pair.ratio is None else abs(pair.ratio - 1), reverse=True)
    tracer = ["tracer"] if is_first else []
    heads = columns("program", "case", *tracer, "untraced-rate", "predicted", "slowdown", "of-predicted")
    yield Table(heads, [_row(pair, *(pair.measured.tracer for _ in tracer)) for pair in clear])


def _calibrated(evidence: Evidence) -> Iterator[Part]:
    pairs = of_clearest(proof.calibrated_pairs(evidence))
    if not pairs:
        return
    suites = {pair.measured.id: pair for pair in program_pairs(evidence)}
    both = [pair for pair in pairs if pair.measured.id in suites]
    where, programs = names.machine_name(pairs[0].measured.submission), len({pair.measured.level for pair in pairs})
    timed = "On {}, each script was also timed in a loop just before it ran over {} programs."
    same = "The first two rows below are of the same pairs." if both else ""
    yield together(say(timed, where, programs), _came_to(pairs, "a script"), same)
    ways = {
        "the machine's suites": [suites[pair.measured.id] for pair in both],
        "a loop before the run": both,
        "a loop before the run, all pairs": pairs,
    }
    rows: list[Sequence[object]] = []
    for way, came in ((way, verdict(some)) for way, some in ways.items() if some):
        near, _, middle, meet = _shares(came)
        rows.append((way, came.pairs, came.visible, near, middle, meet))
    yield Table(columns("cost-way", "traced-pairs", "clear-pairs", "near-share", MEDIAN, "overlap-share"), rows)
    yield say("The next table has those with a clear slowdown on {}, the largest first.", where)
    rows = []
    for pair in _clear(pairs):
        other = suites.get(pair.measured.id)
        rows.append((*_row(pair), _times(other.ratio if other and other.is_visible else None)))
    by_loop, by_suites = ("predicted", "Predicted in the loop"), ("of-predicted", "Of that by suites")
    yield Table(columns("program", "case", "untraced-rate", by_loop, "slowdown", "of-predicted", by_suites), rows)


def _row(pair: ProgramPair, *tracer: str) -> Sequence[object]:
    number, point = pair.measured, pair.point
    measured = links.number(number, "slowdown", units.interval(point.measured, units.SHARE))
    case, predicted = links.case(number.case, number.title), units.interval(point.predicted, units.SHARE)
    return number.level, case, *tracer, units.rate(point.rate_hz), predicted, measured, _times(pair.ratio)


def _came_to(all_pairs: Sequence[ProgramPair], what: str, alone: Sequence[ProgramPair] = ()) -> Markup:
    came, plain = verdict(all_pairs), verdict(alone)
    pairs = "{} pairs of a program and {} have a prediction, and {} of them show a clear slowdown of more than {}."
    sentences = [say(pairs, came.pairs, what, came.visible, units.percent(proof.VISIBLE_RATIO))]
    if came.middle_ratio is not None:
        words = (
            "Of these, {} are within {} of the prediction, the median is {} times the prediction, and the intervals of "
            "{} overlap."
        )
        sentences.append(say(words, *_shares(came)))
    if plain.middle_ratio is not None and plain != came:
        words = (
            "By rate times cost alone, without the cost to other system calls, {} would be within {}, the median would "
            "be {} times the prediction, and the intervals of {} would overlap."
        )
        sentences.append(say(words, *_shares(plain)))
    return listed(sentences, " ")


def _shares(agreement: Agreed) -> tuple[str, str, str, str]:
    near, meet = units.percent(agreement.near_ratio), units.percent(agreement.meet_ratio)
    return near, units.percent(NEAR_RATIO), _times(agreement.middle_ratio), meet


def _times(ratio: float | None) -> str:
    return units.MISSING if ratio is None else units.significant(ratio, 2)


def _clear(pairs: Sequence[ProgramPair]) -> list[ProgramPair]:
    return sorted((pair for pair in pairs if pair.is_visible), key=lambda pair: -pair.point.measured.value)


def charts(catalogue: Catalogue, evidence: Evidence) -> list[Chart]:
    """Every pair as a dot, of chosen probes and of scripts apart; none before programs were traced."""
    probes, drawn = {case.id: case.probe for case in catalogue.cases()}, []
    for name, pairs in ((name, of_clearest(own)) for name, own in by_section(evidence).items() if own):
        dots, is_script = [], name == SCRIPTS_CHART
        for pair in pairs:
            number, title = pair.measured, pair.measured.title
            by_probe = (number.level or "", f"{title.replace(' of a program', '')}, {number.tracer}")
            words = (title, number.level or "") if is_script else by_probe
            family = _family(probes[number.case], number.tracer)
            dots.append(PredictedPair(*words, family, pair.point.predicted, pair.point.measured, pair.is_visible))
        what = "script over a program" if is_script else "program under one probe"
        clear = f"{sum(pair.is_visible for pair in pairs)} of {len(pairs)} are shown, those that are clear."
        where = names.machine_name(pairs[0].measured.submission)
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
