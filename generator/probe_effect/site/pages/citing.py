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


def front(citation: Citation) -> dict[str, dict[str, str]]:
    return {"cite": asdict(citation)}


def citable(catalogue: Catalogue) -> dict[str, Callable[[], Citation]]:
    """The id of everything that can be cited, to what makes its citation: `data`, machines, cases and so on."""
    things: dict[str, Callable[[], Citation]] = {"data": partial(cite_data, catalogue)}
    for suite in (folder.suite for folder in catalogue.suites):
        things[suite.id] = partial(cite_suite, suite, catalogue)
        things |= {case.id: partial(cite_case, case, suite, catalogue) for case in suite.cases}
    things |= {each.version: partial(cite_release, each, catalogue) for each in catalogue.releases}
    for source in catalogue.sources:
        things[source.id] = partial(cite_source, source, catalogue)
        things |= {
            f"{source.id}#{each.figure}": partial(cite_figure, source, each, catalogue) for each in source.figures
        }
    for run in reversed(newest_first(catalogue.everything)):
        things[run.machine] = partial(cite_machine, run, catalogue)  # the newest stays
        things[run.id] = partial(cite_submission, run, catalogue)
        things |= {each.id: partial(cite_number, each, catalogue) for each in run.numbers}
    return things


def cite_data(catalogue: Catalogue) -> Citation:
    return cite(Subject("data", DATA_SET, "/", notes=("data set under CC BY 4.0",)), catalogue.edition)


def cite_release(release: Release, catalogue: Catalogue) -> Citation:
    title, path = f"{DATA_SET}, release {release.version}", f"/releases/{release.version}/"
    subject = Subject(f"release-{release.version}", title, path, release.document.date)
    return cite(subject, replace(catalogue.edition, version=release.document.data_version))


def cite_number(number: Number, catalogue: Catalogue) -> Citation:
    view, run = view_of_submission(number.submission, catalogue), number.submission
    level = f", level {names.level(number.level)}" if number.level is not None else ""
    title = f"{view.cited}: {number.title}{level}, {names.tool_with_version(number)}, {names.machine_name(run)}"
    value = view.value(number) if number.is_known else number.status
    return cite(Subject(number.id, title, addresses.number(number), run.date, value, _made(run)), catalogue.edition)


def cite_submission(submission: Submission, catalogue: Catalogue) -> Citation:
    title = f"Suite {submission.suite} on {names.machine_name(submission)}"
    subject = Subject(
        submission.id, title, addresses.submission(submission.id), submission.date, notes=_made(submission)
    )
    return cite(subject, catalogue.edition)


def cite_machine(run: Submission, catalogue: Catalogue) -> Citation:
    what = "What tracing costs" if run.metric == "time" else "Instructions that tracing takes"
    subject = Subject(run.machine, f"{what} on {names.machine_name(run)}", addresses.machine_of(run))
    return cite(subject, catalogue.edition)


def cite_case(case: Case, suite: Suite, catalogue: Catalogue) -> Citation:
    what = "what it costs" if suite.result_type.guides else view_of(suite).heading.lower()
    return cite(Subject(case.id, f"{case.title}: {what}", addresses.case(case.id)), catalogue.edition)


def cite_suite(suite: Suite, catalogue: Catalogue) -> Citation:
    return cite(
        Subject(f"suite-{suite.id}", f"Suite {suite.id}: {suite.title}", addresses.suite(suite.id)), catalogue.edition
    )


def cite_source(source: PublishedSource, catalogue: Catalogue) -> Citation:
    """A source of others: the original first, then its page here."""
    title = f"Figures of ‘{source.document.title}’, computed again"
    return _after(source, cite(Subject(source.id, title, addresses.figure(source.id)), catalogue.edition))


def cite_figure(source: PublishedSource, figure: Figure, catalogue: Catalogue) -> Citation:
    """One figure of a source: the original first, then its row here."""
    where = f" ({figure.platform})" if figure.platform else ""
    title = f"{figure.what[0].upper()}{figure.what[1:]}{where}, in ‘{source.document.title}’"
    value = f"{figure_text(figure)}{'' if figure.printed is not None else ', derived'}"
    key, path = f"{source.id}-{figure.figure}", addresses.figure(source.id, figure.figure)
    return _after(source, cite(Subject(key, title, path, value=value), catalogue.edition))


def _after(source: PublishedSource, ours: Citation) -> Citation:
    of = source.document
    stated = (None if value == parts.NOT_STATED else value for value in (of.author, of.date, of.where))
    theirs = cite_original(source.id, of.title, *stated)
    caveat = " Known here only from an excerpt; check it before citing it." if source.from_excerpt else ""
    return Citation(f"{theirs.text}{caveat} As collected by: {ours.text}", f"{theirs.bibtex}\n\n{ours.bibtex}")


def _made(submission: Submission) -> tuple[str, ...]:
    done = "measured" if submission.metric == "time" else "counted"
    name = submission.document.submitter.name
    return (f"{done} on {names.date_words(submission.date)}{f' by {name}' if name else ''}",)
