"""Generated pieces that hand-written pages include: tables over all machines and sources."""

from collections.abc import Sequence
from functools import partial

from probe_effect.answer.bands import BANDS
from probe_effect.answer.evidence import Evidence, evidence
from probe_effect.numbers.catalogue import Catalogue, PublishedSource, SuiteFolder
from probe_effect.numbers.shown import FIRST_SUITE, shown_machines
from probe_effect.pages import estimates, kernels_page, ladder_page, lists, wording
from probe_effect.pages.markdown import render
from probe_effect.pages.results import EXPLAINED, measured_range
from probe_effect.pages.source_page import READ, baselines
from probe_effect.reduce.grades import OF_CASE, OF_SUBMISSION
from probe_effect.store.dictionary import TABLES, document_keys
from probe_effect.wanted import lacking

ONLY_PUBLISHED = "published only †"


def write_all(catalogue: Catalogue) -> dict[str, str]:
    """Fragment file name to Markdown."""
    found, suites = evidence(catalogue), first_suite_first(catalogue)
    values: dict[str, dict[str, object]] = {
        "all-costs": {
            "suites": suites,
            "measured": measured_range,
            "otherwise": partial(_otherwise, found, shown_machines(catalogue.numbers)),
        },
        "bands": {"bands": BANDS},
        "published-costs": {},
        "sources": {"sources": best_known_first(catalogue), "read": READ, "baselines": baselines},
        "suites": {"suites": suites},
        "wanted": {"lacking": lacking},
        "grades": {"rules": {"a submission": OF_SUBMISSION, "a case": OF_CASE}},
        "dictionary": {"explained": EXPLAINED.values(), "tables": TABLES, "keys": document_keys()},
    }
    made = {
        f"{name}.md": render(f"fragments/{name}.md.j2", catalogue=catalogue, titles=catalogue.titles, **own)
        for name, own in values.items()
    }
    own = {"estimates.md": estimates.write(found), **ladder_page.write(catalogue)}
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
