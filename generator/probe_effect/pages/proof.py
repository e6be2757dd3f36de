"""The page that asks whether rate x cost predicts what tracing does to real programs."""

from collections.abc import Sequence
from dataclasses import replace

from probe_effect import units
from probe_effect.answer.calibrated_proof import calibrated_pairs, spread_by_kind
from probe_effect.answer.evidence import Evidence, evidence
from probe_effect.answer.proof import (
    NEAR_RATIO,
    VISIBLE_RATIO,
    Agreed,
    ProgramPair,
    of_events,
    of_samples,
    pairs,
    verdict,
)
from probe_effect.answer.question import SAMPLED
from probe_effect.answer.script_proof import order, script_pairs
from probe_effect.charts.predicted import PredictedPair, predicted_chart
from probe_effect.charts.theme import Chart
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.index import grouped_by
from probe_effect.pages import agreement
from probe_effect.pages.markdown import render

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


def write(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown."""
    known = evidence(catalogue)
    found, of_scripts = of_clearest(of_events(known)), of_clearest(script_pairs(known))
    far_first = sorted((one for one in found if one.is_visible), key=_distance, reverse=True)
    return {
        "does-it-hold.md": render(
            "fragments/does-it-hold.md.j2",
            chart=CHART if found else None,
            where=names.machine_name(found[0].measured.submission) if found else None,
            sentences=sentences(verdict(found), verdict([replace(one, point=one.plain) for one in found])),
            far_first=far_first,
            titles=catalogue.titles,
        ),
        "scripts-hold.md": render(
            "fragments/scripts-hold.md.j2",
            chart=SCRIPTS_CHART if of_scripts else None,
            where=names.machine_name(of_scripts[0].measured.submission) if of_scripts else None,
            sentences=[*sentences(verdict(of_scripts), verdict(of_scripts), "a script"), *_order(of_scripts)],
            pairs=_clear(of_scripts),
            titles=catalogue.titles,
        ),
        "calibrated-hold.md": _calibrated(known, catalogue),
        "samples-hold.md": _samples(of_clearest(of_samples(known)), catalogue),
    }


def _samples(found: Sequence[ProgramPair], catalogue: Catalogue) -> str:
    """The programs that were sampled, beside the law of a sample at the depth of their stacks."""
    return render(
        "fragments/samples-hold.md.j2",
        chart=SAMPLES_CHART if found else None,
        where=names.machine_name(found[0].measured.submission) if found else None,
        ways=[
            (case, sentences(agreed, agreed, "a way to sample it"))
            for case, own in grouped_by(found, lambda one: one.measured.case).items()
            if (agreed := verdict(own))
        ],
        pairs=_clear(found),
        titles=catalogue.titles,
    )


def _calibrated(known: Evidence, catalogue: Catalogue) -> str:
    """The programs beside costs from both ways: of the machine's suites, and of each script in a loop before it ran."""
    found = of_clearest(calibrated_pairs(known))
    suites = {one.measured.id: one for one in (*pairs(known), *script_pairs(known))}
    both = [one for one in found if one.measured.id in suites]
    all_pairs = (f"{BY_LOOP}, all pairs", verdict(found))
    same_pairs = [(BY_SUITES, verdict([suites[one.measured.id] for one in both])), (BY_LOOP, verdict(both))]
    return render(
        "fragments/calibrated-hold.md.j2",
        where=names.machine_name(found[0].measured.submission) if found else None,
        programs=len({one.measured.level for one in found}),
        sentences=sentences(verdict(found), verdict(found), "a script"),
        ways=[*(same_pairs if both else []), all_pairs],
        pairs=[(one, suites.get(one.measured.id)) for one in _clear(found)],
        kinds=[
            (way, kind, one)
            for way, is_calibrated in ((BY_LOOP, True), (BY_SUITES, False))
            for kind, one in spread_by_kind(known, is_calibrated=is_calibrated).items()
        ],
        titles=catalogue.titles,
    )


def _clear(found: Sequence[ProgramPair]) -> list[ProgramPair]:
    """The pairs with a clear slowdown, the largest first."""
    return sorted((one for one in found if one.is_visible), key=lambda one: -one.point.measured.value)


def _order(found: Sequence[ProgramPair]) -> list[str]:
    """Whether the scripts are predicted in the order of what they cost."""
    agreed = order(found)
    said = "Put in order by slowdown, predicted and measured agree with Kendall's tau"
    return [f"{said} {agreement.tau(agreed)}."] if agreed else []


def _distance(one: ProgramPair) -> float:
    """How far the measured slowdown is from what was predicted, as a share of it."""
    return float("inf") if one.ratio is None else abs(one.ratio - 1)


def sentences(found: Agreed, plain: Agreed, what: str = "a probe") -> list[str]:
    """What all pairs of a program and `what` come to, and what they would come to by rate x cost alone (`plain`)."""
    if not found.pairs:
        return []
    visible, near = units.percent(VISIBLE_RATIO), units.percent(NEAR_RATIO)
    all_of_them = f"{found.pairs} pairs of a program and {what} were measured"
    words = [f"{all_of_them}, and {found.visible} of them show a clear slowdown of more than {visible}."]
    if found.near_ratio is not None and found.middle_ratio is not None:
        words.append(
            f"Of these, {units.percent(found.near_ratio)} are within {near} of the prediction, "
            f"and the median is {units.significant(found.middle_ratio, 2)} times the prediction."
        )
    if found.meet_ratio is not None:
        words.append(f"Of all pairs, the intervals of {units.percent(found.meet_ratio)} overlap.")
    if plain != found and plain.near_ratio is not None and plain.middle_ratio is not None:
        words.append(
            "By rate times cost alone, without the cost to other system calls, "
            f"{units.percent(plain.near_ratio)} would be within {near}, "
            f"the median would be {units.significant(plain.middle_ratio, 2)} times the prediction, "
            f"and the intervals of {units.percent(plain.meet_ratio)} would overlap."
        )
    return words


def charts(catalogue: Catalogue, known: Evidence) -> list[Chart]:
    """Every pair as a dot, of chosen probes and of scripts apart; none before programs were traced."""
    some = {CHART: of_events(known), SCRIPTS_CHART: script_pairs(known), SAMPLES_CHART: of_samples(known)}
    found = {name: of_clearest(own) for name, own in some.items()}
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
