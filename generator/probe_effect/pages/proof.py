"""The page that asks whether rate x cost predicts what tracing does to real programs."""

from collections.abc import Sequence
from dataclasses import replace

from probe_effect.answer.proof import (
    NEAR_RATIO,
    PROGRAMMED,
    VISIBLE_RATIO,
    ProgramPair,
    calibrated_pairs,
    order,
    verdict,
)
from probe_effect.answer.spread import coverage, left_out, program_pairs, spreads
from probe_effect.charts.slowdown import PredictedPair, predicted_chart
from probe_effect.charts.theme import Chart
from probe_effect.costs.evidence import Evidence, evidence
from probe_effect.costs.row import SAMPLED
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by
from probe_effect.pages.markdown import render
from probe_effect.store.suite_file import Case
from probe_effect.tools import known_tool

CHART, SCRIPTS_CHART, SAMPLES_CHART = "does-it-hold", "scripts-hold", "samples-hold"
TITLES = {
    CHART: "Slowdown of real programs, predicted and measured",
    SCRIPTS_CHART: "Slowdown by whole scripts",
    SAMPLES_CHART: "Slowdown by 4,999 samples a second",
}
ADDRESS = "/does-it-hold/"
BY_SUITES, BY_LOOP = "the machine's suites", "a loop before the run"


def of_clearest(found: Sequence[ProgramPair]) -> list[ProgramPair]:
    """The pairs of the machine with most clear slowdowns: one, so that the page does not grow with others."""
    by_machine = grouped_by(found, lambda one: one.measured.submission.machine)
    return max(by_machine.values(), key=lambda own: sum(one.is_visible for one in own), default=[])


def by_section(found: Evidence) -> dict[str, list[ProgramPair]]:
    """The chart of each section to its pairs: of probes and tools, of scripts by their text, of samples."""
    made = grouped_by(program_pairs(found), lambda one: _section(found.case_of[one.measured.case], one))
    return {name: made.get(name, []) for name in TITLES}


def _section(case: Case, one: ProgramPair) -> str | None:
    """None of a sampler that is like no loop: it is in the table alone."""
    if case.probe == SAMPLED:
        return SAMPLES_CHART if case.like else None
    tool = known_tool(one.measured.tracer)
    return SCRIPTS_CHART if case.like is None and tool and tool.language in PROGRAMMED else CHART


def write(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown."""
    known = evidence(catalogue)
    found, of_scripts, sampled = map(of_clearest, by_section(known).values())
    plain = verdict([replace(one, point=one.plain) for one in found])
    far_first = sorted((one for one in found if one.is_visible), key=_distance, reverse=True)
    ways = {case: verdict(own) for case, own in grouped_by(sampled, lambda one: one.measured.case).items()}
    return {
        "programs-spread.md": _spread(known, catalogue),
        "does-it-hold.md": _fragment(CHART, found, catalogue, plain=plain, far_first=far_first),
        "scripts-hold.md": _fragment(SCRIPTS_CHART, of_scripts, catalogue, order=order(of_scripts)),
        "calibrated-hold.md": _calibrated(known, catalogue),
        "samples-hold.md": _fragment(SAMPLES_CHART, sampled, catalogue, ways=ways),
    }


def _spread(found: Evidence, catalogue: Catalogue) -> str:
    """The table that answers take their spread from, and what is in no row of it, with the reason."""
    missing = grouped_by(left_out(found), lambda one: (one.measured.case, one.measured.tracer, one.why))
    return render(
        "fragments/programs-spread.md.j2",
        rows=[(one, coverage(found, kind)) for kind, one in spreads(found).items()],
        missing=[(*key, len(some)) for key, some in missing.items()],
        titles=catalogue.titles,
    )


def _fragment(name: str, found: Sequence[ProgramPair], catalogue: Catalogue, **values: object) -> str:
    """A fragment on pairs of one machine: where they are from, what they come to, and those that are clear."""
    where = names.machine_name(found[0].measured.submission) if found else None
    limits = {"visible": VISIBLE_RATIO, "near": NEAR_RATIO}
    own = {"where": where, "found": verdict(found), "pairs": _clear(found), "titles": catalogue.titles}
    return render(f"fragments/{name}.md.j2", chart=name, limits=limits, **(own | values))


def _calibrated(known: Evidence, catalogue: Catalogue) -> str:
    """The programs beside costs from both ways: of the machine's suites, and of each script in a loop before it ran."""
    found = of_clearest(calibrated_pairs(known))
    suites = {one.measured.id: one for one in program_pairs(known)}
    both = [one for one in found if one.measured.id in suites]
    all_pairs = (f"{BY_LOOP}, all pairs", verdict(found))
    same_pairs = [(BY_SUITES, verdict([suites[one.measured.id] for one in both])), (BY_LOOP, verdict(both))]
    return _fragment(
        "calibrated-hold",
        found,
        catalogue,
        programs=len({one.measured.level for one in found}),
        ways=[*(same_pairs if both else []), all_pairs],
        pairs=[(one, suites.get(one.measured.id)) for one in _clear(found)],
    )


def _clear(found: Sequence[ProgramPair]) -> list[ProgramPair]:
    """The pairs with a clear slowdown, the largest first."""
    return sorted((one for one in found if one.is_visible), key=lambda one: -one.point.measured.value)


def _distance(one: ProgramPair) -> float:
    """How far the measured slowdown is from what was predicted, as a share of it."""
    return float("inf") if one.ratio is None else abs(one.ratio - 1)


def charts(catalogue: Catalogue, known: Evidence) -> list[Chart]:
    """Every pair as a dot, of chosen probes and of scripts apart; none before programs were traced."""
    found = {name: of_clearest(own) for name, own in by_section(known).items()}
    return [_chart(name, own, catalogue) for name, own in found.items() if own]


def _chart(name: str, found: Sequence[ProgramPair], catalogue: Catalogue) -> Chart:
    is_script = name == SCRIPTS_CHART
    probes = {case.id: case.probe for case in catalogue.cases()}
    dots = []
    for one in found:
        number, title = one.measured, catalogue.titles.get(one.measured.case, one.measured.case)
        by_probe = (number.level or "", f"{title.replace(' of a program', '')}, {number.tracer}")
        words = (title, number.level or "") if is_script else by_probe
        family = _family(probes[number.case], number.tracer)
        dots.append(PredictedPair(*words, family, one.point.predicted, one.point.measured, one.is_visible))
    what = "script over a program" if is_script else "program under one probe"
    sentence = (
        f"Each dot is one {what}, on {names.machine_name(found[0].measured.submission)}; in the grey band the "
        f"prediction is near. {sum(one.is_visible for one in found)} of {len(found)} are shown, those that are clear."
    )
    return predicted_chart(name, TITLES[name], sentence, dots, near_ratio=NEAR_RATIO, page=ADDRESS)


def _family(probe: str, tracer: str) -> str:
    """What is probed, in few words; strace stops the process besides, which sets its programs apart."""
    if tracer.startswith("strace"):
        return "strace"
    if probe == SAMPLED:
        return "samples"
    return "functions of programs" if "uprobe" in probe else "static probes of the kernel"
