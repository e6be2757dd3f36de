"""Generated pieces that hand-written pages include: tables over all machines, and lists that grow with the data."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from probe_effect import units
from probe_effect.answer.prediction import BANDS
from probe_effect.costs.evidence import evidence_of
from probe_effect.numbers import names, wanted
from probe_effect.numbers.catalogue import Catalogue, PublishedSource, SuiteFolder
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.shown import FIRST_SUITE, distances, representative, shown_machines
from probe_effect.numbers.submission import OF_CASE, OF_SUBMISSION, Submission
from probe_effect.records import CONDITIONS
from probe_effect.site.pages import addresses, case_answer, changes_page, comparison, links, machine_page, parts
from probe_effect.site.pages.parts import Heading, Items, Link, Part, Pieces, Table, chart, columns, fragment, page
from probe_effect.site.pages.results import view_of
from probe_effect.site.pages.source_page import READ, baselines, source_files
from probe_effect.site.pages.submission_page import scripts_of
from probe_effect.site.pages.text import link, listed, safe, say
from probe_effect.store.beside_files import TABLES
from probe_effect.store.documents import document_keys
from probe_effect.store.machine_file import MachineFile, is_hosted
from probe_effect.store.suite_file import Case

PER_PAGE = 100


@dataclass(frozen=True, slots=True)
class Listing:
    """A list: the fragment of its first page, the section where it begins, its title, and the parts of some items."""

    fragment: str
    section: str
    title: str
    items: Sequence[Any]
    parts: Callable[[Sequence[Any]], Iterable[Part]]
    first: Sequence[Part] = ()  # what is above the items of the first page

    def pages(self) -> Iterator[list[Part]]:
        count = max(1, -(-len(self.items) // PER_PAGE))
        for number in range(1, count + 1):
            others = [
                number
                if page_number == number
                else link(page_number, f"/{self.section}/{f'page/{page_number}/' if page_number > 1 else ''}")
                for page_number in range(1, count + 1)
            ]
            pagination = say("Page {} of {}: {}.", number, count, listed(others)) if count > 1 else None
            own = self.parts(self.items[(number - 1) * PER_PAGE : number * PER_PAGE])
            yield [*(self.first if number == 1 else ()), *own, pagination]


def write_further(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Path and text of each further page, for the items that the pages of sections do not have."""
    for listing in _lists(catalogue):
        for number, shown in enumerate(listing.pages(), start=1):
            if number > 1:
                front = {"title": f"{listing.title}, page {number}", "kind": "list", "weight": PER_PAGE * 1000 + number}
                yield f"{listing.section}/page/{number}.md", page(front, shown)


def _lists(catalogue: Catalogue) -> list[Listing]:
    machines = list(catalogue.numbers.machines().values())
    by_metric = sorted(catalogue.numbers.submissions, key=lambda submission: submission.metric != "time")
    drawn = [chart(drawing.name) for drawing in machine_page.charts(catalogue)] if machines else []
    titles = {source.id: source.document.title for source in catalogue.sources}
    changes = changes_page.entries(catalogue)
    return [
        Listing("machines.md", "machines", "Machines", machines, _machines, drawn),
        Listing("results.md", "results", "Results", by_metric, _results),
        Listing("files.md", "data/files", "Files", [*by_metric, *catalogue.sources], _files),
        Listing("data-changes.md", "data/changes", "Changes of the data", changes, lambda some: _changes(some, titles)),
    ]


def _machines(machines: Sequence[Sequence[Submission]]) -> list[Part]:
    rows = []
    for submissions in machines:
        newest, shown = submissions[0], representative(submissions)
        many, runs = is_hosted(shown.machine), len(submissions)
        baseline: object = units.duration(shown.baseline.value if shown.baseline else None)
        if many and shown.baseline:
            alike = [
                submission.baseline.value
                for submission in submissions
                if submission.baseline and submission.suite == shown.suite
            ]
            baseline = Pieces.joined(dict.fromkeys(units.duration(end, 2) for end in (min(alike), max(alike))), " to ")
        kind = say("{}{}", parts.tier(newest.document), say(", {} runs", runs) if many and runs > 1 else "")
        suites = len({submission.suite for submission in submissions})
        floor = units.duration(shown.noise_floor_ns, 2)
        rows.append((links.machine(newest), kind, newest.date, suites, baseline, floor, shown.grade))
    heads = columns("machine", "kind", "newest-run", "suites-run", "baseline", "noise-floor", "grade")
    return [Table(heads, rows) if rows else "No machine has been submitted yet."]


def _results(submissions: Sequence[Submission]) -> Iterator[Part]:
    for metric, some in grouped_by(submissions, lambda submission: submission.metric).items():
        is_time = metric == "time"
        yield Heading("Times" if is_time else "Instructions")
        rows = []
        for submission in some:
            cases = sum(number.cost is not None for number in submission.numbers)
            row = (
                links.run(submission),
                links.machine(submission),
                links.suite(submission.suite),
                cases,
                submission.grade,
            )
            rows.append(row if is_time else row[:-1])
        yield Table(columns("run", "machine", "suite", "cases", *(["grade"] if is_time else [])), rows)
    if not submissions:
        yield "Nothing has been submitted yet."


def _files(some: Sequence[Submission | PublishedSource]) -> list[Part]:
    rows: list[Sequence[object]] = []
    for entry in some:
        if isinstance(entry, Submission):
            rows.append((say("{}, {}", names.machine_name(entry), entry.files.folder.name), links.raw_files(entry)))
        else:
            rows.append((entry.document.title, source_files(entry)))
    return [Table(columns("file-what", "files"), rows)]


def _conditions() -> Table:
    does = {"refuses": "begins nothing without `--anyway`", "says": "says so, and records it", "records": "records it"}
    rows = []
    for name, condition in CONDITIONS.items():
        check = f"{condition.fault}: its times lead nothing" if condition.fault else "nothing"
        rows.append((name, condition.seen or f"/{condition.file}", condition.why, safe(does[condition.measure]), check))
    heads = ("condition", "condition-seen", "condition-why", "condition-measure", "condition-check")
    return Table(columns(*heads), rows)


def _changes(entries: Sequence[changes_page.Entry], titles: Mapping[str, str]) -> Iterator[Part]:
    for day, some in grouped_by(entries, lambda change: change.date).items():
        items = []
        for entry in some:
            heading, are_several = changes_page.heading(entry), len(entry.what) > 1
            what = say("{}.", heading if are_several else link(heading, changes_page.address(entry.what[0])))
            of_which = listed(link(titles.get(each, each), changes_page.address(each)) for each in entry.what)
            these = say("These are: {}.", of_which) if are_several else ""
            items.append(listed(filter(None, (what, changes_page.sentence(entry), these)), " "))
        yield Heading(names.date_words(day))
        yield Items(items)


def write_all(catalogue: Catalogue) -> dict[str, str]:
    caps = [("a submission", rule) for rule in OF_SUBMISSION] + [("a case", rule) for rule in OF_CASE]
    figures = ((source, figure) for source in catalogue.sources for figure in source.figures)
    costs = [
        links.figure(source, figure) for source, figure in figures if figure.cost_ns is not None and not figure.case
    ]
    published = "source what published-cost published-baseline figure-grade".split()
    newest, runs = catalogue.numbers.machines(), [submission.suite for submission in catalogue.numbers.submissions]
    apart = [
        (links.machine(newest[machine][0]), f"{distance.factor:.2f}", distance.cases)
        for machine, distance in distances(catalogue.numbers).items()
    ]
    rows = [
        (links.suite(suite.id, suite.title), suite.question, len(suite.cases), runs.count(suite.id))
        for suite in (folder.suite for folder in first_suite_first(catalogue))
    ]
    suites = Table(columns("suite", "question", "cases", ("run", "Runs")), rows)
    made: dict[str, Iterable[Part]] = {
        "all-costs": _all_costs(catalogue),
        "bands": [
            Table(columns("band", "band-deed"), [(band.range, band.recommendation) for band in BANDS]),
            "Where an interval covers several bands, act by the worst of them.",
        ],
        "dictionary": _dictionary(),
        "distances": [Table(columns("machine", "distance", "shared-cases"), apart)],
        "estimates": case_answer.write(evidence_of(catalogue)),
        "conditions": [_conditions()],
        "grades": [Table(columns("cap", "of-what", "rule"), [(rule.cap, of, rule.words) for of, rule in caps])],
        "published-costs": [Table.of_cells(published, costs)],
        "sources": [_sources(catalogue)],
        "suites": [suites if catalogue.suites else "There is no suite."],
        "wanted": _wanted(catalogue),
    }
    texts = {f"{name}.md": fragment(parts) for name, parts in made.items()}
    return texts | {listing.fragment: fragment(next(listing.pages())) for listing in _lists(catalogue)}


def _all_costs(catalogue: Catalogue) -> Iterator[Part]:
    suites = [folder.suite for folder in first_suite_first(catalogue)]
    for suite in suites[:1]:
        yield Heading(suite.title)
        yield suite.question
        yield case_table(catalogue.by_suite[suite.id], catalogue)
    if len(suites) > 1:
        yield Heading("Other costs")
        yield say("Each of the other [suites](/suites/) has such a table:")
        yield Items([links.suite(other.id, other.title) for other in suites[1:]])


def case_table(folder: SuiteFolder, catalogue: Catalogue, *, has_scripts: bool = False) -> Table:
    """The cases of a suite: what each took on all machines, or may cost by its count, and what others printed."""
    suite, evidence, machines, rows = folder.suite, evidence_of(catalogue), shown_machines(catalogue.numbers), []
    for case in suite.cases:
        measured, published = view_of(suite).range_of(case, catalogue.numbers), list(catalogue.published(case.id))
        if isinstance(measured, str) and suite.result_type.guides:
            measured = case_answer.cell(evidence, case.id, machines, "published only †" if published else measured)
        excerpts, printed = sum(source.from_excerpt for source, _ in published), [figure for _, figure in published]
        count_words = say(" ({}{})", len(printed), say(", {} from excerpts", excerpts) if excerpts else "")
        range_printed = Pieces([*comparison.published_range(printed), count_words]) if printed else ""
        probe = ", ".join(filter(None, (case.probe, names.only_on(case))))
        scripts = [scripts_of(folder, case)] if has_scripts else []
        rows.append((links.case(case.id, case.title), measured, range_printed, probe, case.action, *scripts))
    heads = columns("range-published", "probe", "action", *(["scripts"] if has_scripts else []))
    return Table([*columns("case"), view_of(suite).range_head, *heads], rows)


def _dictionary() -> Iterator[Part]:
    yield Heading("Tables of this site")
    of_site = [(Link(column.label, f"#={column.id}"), column.meaning, column.unit) for column in parts.COLUMNS.values()]
    yield Table(columns("column", "meaning", "unit"), of_site)
    for name, own in TABLES.items():
        rows = []
        for column in own:
            kind = f"{column.kind}, required" if column.required else column.kind
            choices = say(" One of {}.", ", ".join(column.choices)) if column.choices else ""
            column_link = Link(column.name, f"#={name.split('.')[0]}.{column.name}")
            rows.append((column_link, kind, Pieces([column.text.replace("`", ""), choices])))
        yield Heading(name)
        yield Table(columns("column", "data-kind", "meaning"), rows)
    yield Heading("machine.json")
    keys = [(Link(key, f"#=key.{key}"), text.replace("`", "")) for key, text in document_keys(MachineFile).items()]
    yield Table(columns("key", "meaning"), keys)


def _sources(catalogue: Catalogue) -> Table:
    rows = []
    for source in best_known_first(catalogue):
        document = source.document
        by = "" if document.author == parts.NOT_STATED else say("{}, ", parts.source_label(document))
        what = say("{}, {}{}", link(document.title, addresses.figure(source.id)), by, document.kind)
        reading = READ[document.read].split(":")[0]
        counts = map(units.count, (len(source.figures), len(document.findings)))
        each = [
            Pieces([units.duration(base_ns), say(" ({})", platform) if platform else ""])
            for platform, base_ns in baselines(source).items()
        ]
        rows.append((what, reading, *counts, Pieces.joined(each, "; ")))
    return Table(columns("source", "known", "figures", "disagreements", "source-baseline"), rows)


def _wanted(catalogue: Catalogue) -> Iterator[Part]:
    kinds, untimed = wanted.lacking(catalogue), wanted.untimed(catalogue)
    uncounted, kernels = wanted.uncounted(catalogue), wanted.untimed_kernels(catalogue)
    minutes = wanted.minutes(catalogue)

    def suite(name: str) -> Markup:
        return links.suite(name, catalogue.by_suite[name].suite.title)

    def taking(name: str) -> str:
        return f"{minutes[name]}{units.GAP}min" if name in minutes else ""

    def cases(some: Iterable[Case]) -> Markup:
        return listed(links.case(case.id, catalogue.titles[case.id]) for case in some)

    if kinds:
        yield Heading("Machines")
        heads = columns("machine", "lacking-cases", "lacking-first", "begin-with", "run-minutes")
        rows: list[Sequence[object]] = [
            (lacking.words, lacking.number, lacking.number_first or "", suite(lacking.suite), taking(lacking.suite))
            for lacking in kinds
        ]
        yield Table(heads, rows)
        alike = grouped_by((kind for kind in kinds if kind.probes), lambda kind: tuple(kind.probes))
        first = sorted((probes, "; ".join(kind.words for kind in own)) for probes, own in alike.items())
        items = [say("{}: {}.", words, ", ".join(probes).replace("-", " ")) for probes, words in first]
        yield from parts.fold("Which probes would be timed there for the first time", Items(items))
    if untimed:
        yield Heading("Cases that no machine has timed")
        rows = [(suite(name), cases(some), taking(name)) for name, some in untimed.items()]
        yield Table(columns("suite", "wanted-cases", "run-minutes"), rows)
    if kernels:
        yield Heading("Kernels that were counted, and not timed")
        yield say("Linux {}.", ", ".join(kernels))
    if uncounted:
        yield Heading("Cases without a count")
        yield Table(columns("suite", "wanted-cases"), [(suite(name), cases(some)) for name, some in uncounted.items()])
    if not (kinds or untimed or kernels or uncounted):
        yield "Nothing is lacking."


def first_suite_first(catalogue: Catalogue) -> list[SuiteFolder]:
    """All suites, the first of them being that of the home page."""
    return sorted(catalogue.suites, key=lambda folder: folder.suite.id != FIRST_SUITE)


def best_known_first(catalogue: Catalogue) -> list[PublishedSource]:
    """Sources read in full before those known from a file or an excerpt, newest first among each."""
    newest = sorted(catalogue.sources, key=lambda source: source.document.date, reverse=True)
    dated = sorted(newest, key=lambda source: source.document.date == parts.NOT_STATED)
    return sorted(dated, key=lambda source: list(READ).index(source.document.read))
