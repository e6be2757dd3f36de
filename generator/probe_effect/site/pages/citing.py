"""What pages and the command line cite: each thing's title, its value in words and its address.

Pages have it in their front matter, which `_partials/cite.html` prints.
"""

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial

from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource
from probe_effect.numbers.index import newest_first
from probe_effect.numbers.names import Citation, Subject, cite, cite_original
from probe_effect.numbers.published import figure_text
from probe_effect.numbers.submission import Number, Submission
from probe_effect.site.pages import addresses, parts
from probe_effect.site.pages.results import view_of, view_of_submission
from probe_effect.store.beside_files import Figure
from probe_effect.store.release_file import Release
from probe_effect.store.suite_file import Case, Suite

DATA_SET = "Probe Effect: what observing costs"


def front(found: Citation) -> dict[str, dict[str, str]]:
    return {"cite": asdict(found)}


def citable(catalogue: Catalogue) -> dict[str, Callable[[], Citation]]:
    """The id of everything that can be cited, to what makes its citation: `data`, machines, cases and so on."""
    things: dict[str, Callable[[], Citation]] = {"data": partial(cite_data, catalogue)}
    for suite in (folder.suite for folder in catalogue.suites):
        things[suite.id] = partial(cite_suite, suite, catalogue)
        things |= {one.id: partial(cite_case, one, suite, catalogue) for one in suite.cases}
    things |= {each.version: partial(cite_release, each, catalogue) for each in catalogue.releases}
    for one in catalogue.sources:
        things[one.id] = partial(cite_source, one, catalogue)
        things |= {f"{one.id}#{each.figure}": partial(cite_figure, one, each, catalogue) for each in one.figures}
    for run in reversed(newest_first(catalogue.everything)):
        things[run.machine] = partial(cite_machine, run, catalogue)  # the newest stays
        things[run.id] = partial(cite_submission, run, catalogue)
        things |= {each.id: partial(cite_number, each, catalogue) for each in run.numbers}
    return things


def cite_data(catalogue: Catalogue) -> Citation:
    return cite(Subject("data", DATA_SET, "/", notes=("data set under CC BY 4.0",)), catalogue.edition)


def cite_release(one: Release, catalogue: Catalogue) -> Citation:
    title, path = f"{DATA_SET}, release {one.version}", f"/releases/{one.version}/"
    subject = Subject(f"release-{one.version}", title, path, one.document.date)
    return cite(subject, replace(catalogue.edition, version=one.document.data_version))


def cite_number(one: Number, catalogue: Catalogue) -> Citation:
    view, run = view_of_submission(one.submission, catalogue), one.submission
    level = f", level {names.level(one.level)}" if one.level is not None else ""
    title = f"{view.cited}: {one.title}{level}, {names.tool_with_version(one)}, {names.machine_name(run)}"
    value = view.value(one) if one.is_known else one.status
    return cite(Subject(one.id, title, addresses.number(one), run.date, value, _made(run)), catalogue.edition)


def cite_submission(one: Submission, catalogue: Catalogue) -> Citation:
    title = f"Suite {one.suite} on {names.machine_name(one)}"
    subject = Subject(one.id, title, addresses.submission(one.id), one.date, notes=_made(one))
    return cite(subject, catalogue.edition)


def cite_machine(run: Submission, catalogue: Catalogue) -> Citation:
    what = "What tracing costs" if run.metric == "time" else "Instructions that tracing takes"
    subject = Subject(run.machine, f"{what} on {names.machine_name(run)}", addresses.machine_of(run))
    return cite(subject, catalogue.edition)


def cite_case(one: Case, suite: Suite, catalogue: Catalogue) -> Citation:
    what = "what it costs" if suite.result_type.guides else view_of(suite).heading.lower()
    return cite(Subject(one.id, f"{one.title}: {what}", addresses.case(one.id)), catalogue.edition)


def cite_suite(one: Suite, catalogue: Catalogue) -> Citation:
    return cite(Subject(f"suite-{one.id}", f"Suite {one.id}: {one.title}", addresses.suite(one.id)), catalogue.edition)


def cite_source(one: PublishedSource, catalogue: Catalogue) -> Citation:
    """A source of others: the original first, then its page here."""
    title = f"Figures of ‘{one.document.title}’, computed again"
    return _after(one, cite(Subject(one.id, title, addresses.figure(one.id)), catalogue.edition))


def cite_figure(one: PublishedSource, figure: Figure, catalogue: Catalogue) -> Citation:
    """One figure of a source: the original first, then its row here."""
    where = f" ({figure.platform})" if figure.platform else ""
    title = f"{figure.what[0].upper()}{figure.what[1:]}{where}, in ‘{one.document.title}’"
    value = f"{figure_text(figure)}{'' if figure.printed is not None else ', derived'}"
    key, path = f"{one.id}-{figure.figure}", addresses.figure(one.id, figure.figure)
    return _after(one, cite(Subject(key, title, path, value=value), catalogue.edition))


def _after(one: PublishedSource, ours: Citation) -> Citation:
    of = one.document
    stated = (None if value == parts.NOT_STATED else value for value in (of.author, of.date, of.where))
    theirs = cite_original(one.id, of.title, *stated)
    known = " Known here only from an excerpt; check it before citing it." if one.from_excerpt else ""
    return Citation(f"{theirs.text}{known} As collected by: {ours.text}", f"{theirs.bibtex}\n\n{ours.bibtex}")


def _made(one: Submission) -> tuple[str, ...]:
    done = "measured" if one.metric == "time" else "counted"
    name = one.document.submitter.name
    return (f"{done} on {names.date_words(one.date)}{f' by {name}' if name else ''}",)
