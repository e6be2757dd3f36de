"""Generated pieces that hand-written pages include: tables over all machines and sources, and the home page's chart."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from probe_effect.answer import hardware
from probe_effect.answer.bands import BANDS
from probe_effect.answer.evidence import Evidence, evidence
from probe_effect.charts.slowdown import CostLine, slowdown_chart
from probe_effect.charts.theme import Chart
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource, SuiteFolder
from probe_effect.numbers.home import FIRST_SUITE, on_all_machines, reference_submission
from probe_effect.numbers.kinds import shown_machines
from probe_effect.pages import estimates, home_page, kernels_page, lists, wording
from probe_effect.pages.markdown import render
from probe_effect.pages.results import EXPLAINED, measured_range
from probe_effect.pages.source_page import READ, baselines
from probe_effect.pages.submission_page import skipped_cases
from probe_effect.reduce.grades import OF_CASE, OF_SUBMISSION
from probe_effect.store.dictionary import TABLES, document_keys

ONLY_PUBLISHED = "published only †"

HOME_CHART = "events-to-slowdown"


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown."""
    found, probes = evidence(catalogue), home_page.user_probes(catalogue)
    suites, drawn = first_suite_first(catalogue), HOME_CHART if charts(catalogue) else None
    spans = partial(on_all_machines, catalogue.numbers)
    values: dict[str, dict[str, object]] = {
        "costs-table": {
            "reference": reference_submission(catalogue.numbers),
            "skipped": skipped_cases,
            "named": partial(home_page.named, catalogue),
            "spans": spans,
            "hardware": partial(hardware.sentences, found),
        },
        "user-probes": {"probes": probes, "hardware": hardware.sentences(found, dict(probes).values()), "spans": spans},
        "machines-said": {"said": home_page.machines_said(catalogue)},
        "all-costs": {
            "suites": suites,
            "measured": measured_range,
            "otherwise": partial(_otherwise, found, shown_machines(catalogue.numbers)),
        },
        "bands": {"bands": BANDS},
        "published-costs": {},
        "sources": {"sources": best_known_first(catalogue), "read": READ, "baselines": baselines},
        "suites": {"suites": suites},
        "grades": {"rules": {"a submission": OF_SUBMISSION, "a case": OF_CASE}},
        "dictionary": {"explained": EXPLAINED.values(), "tables": TABLES, "keys": document_keys()},
    }
    made = {
        f"{name}.md": render(f"fragments/{name}.md.j2", catalogue=catalogue, titles=catalogue.titles, **own)
        for name, own in values.items()
    }
    home = render("fragments/chart.md.j2", chart=drawn, without="Nothing has been measured yet.")
    own = {"home-chart.md": home, "estimates.md": estimates.write(found)}
    return {**own, **made, **lists.write_first(catalogue), **kernels_page.write_all(catalogue)}


def _otherwise(found: Evidence, machines: Sequence[str], case_id: str, words: str, published: Sequence[object]) -> str:
    """The text in place of a measured cost: an estimate, else that others printed one, else why there is none."""
    return estimates.cell(found, case_id, machines, ONLY_PUBLISHED if published else words)


def first_suite_first(catalogue: Catalogue) -> list[SuiteFolder]:
    """All suites, the first of them being that of the home page."""
    return sorted(catalogue.suites, key=lambda folder: folder.suite.id != FIRST_SUITE)


def best_known_first(catalogue: Catalogue) -> list[PublishedSource]:
    """Sources read in full before those known from a file or an excerpt, newest first among each."""
    newest = sorted(catalogue.sources, key=lambda source: source.document.date, reverse=True)
    dated = sorted(newest, key=lambda source: source.document.date == wording.NOT_STATED)
    return sorted(dated, key=lambda source: list(READ).index(source.document.read))


def charts(catalogue: Catalogue) -> list[Chart]:
    """The home page's chart; none before anything was measured that guides."""
    reference = reference_submission(catalogue.numbers)
    if reference is None:
        return []
    guiding = [case for case in reference.numbers if case.threshold(5) is not None]
    # Of one tracer, the one with most cases: lines of several would lie on each other.
    tracer = max((case.tracer for case in guiding), key=[case.tracer for case in guiding].count, default="")
    own = (case for case in guiding if case.tracer == tracer)
    lines = [CostLine(home_page.named(catalogue, case), case.known_cost) for case in own]
    if not lines:
        return []
    lines.sort(key=lambda line: line.cost.value)
    name = names.machine_name(reference)
    how = f"{names.tool(tracer, reference.document.tools.get(tracer))} on a {wording.tier(reference.document)}"
    sentence = f"Slowdown of one busy thread by the rate of its events, measured with {how}."
    return [slowdown_chart(HOME_CHART, f"From events per second to slowdown on {name}", sentence, lines, page="/")]
