"""What is beside submissions and suites in a data folder: change log, releases, standard tools, texts and published
sources.

The change log speaks of things that are there; what is published stays, and a release is what its manifest says.
"""

import hashlib
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path

from probe_effect.checks.rule import Fault, broken, names_in, rule
from probe_effect.model import Problem
from probe_effect.numbers.published import FormulaError, compare, evaluate, fill, recompute, stands
from probe_effect.records import TOOLS
from probe_effect.store import beside_files, transcripts
from probe_effect.store.beside_files import (
    CHANGES_FILE,
    Change,
    ChangesFile,
    Claim,
    Explanation,
    Figure,
    SourceFile,
    read_changes,
    read_figures,
)
from probe_effect.store.documents import SLUG, TAKEN, read_documents, value_line
from probe_effect.store.places import DataFolder, SubmissionFolder, sha256
from probe_effect.store.release_file import MANIFEST, SUMS, Release, TreeDifference, read_releases
from probe_effect.store.result_tables import read_samples
from probe_effect.store.suite_file import Suite, known_suites
from probe_effect.store.tables import MAX_FILE_BYTES, printable
from probe_effect.store.transcripts import Shown, ToolPackage

OF_KIND = {
    "added": (("source",), "only a source is added here; a submission is, by being there"),
    "corrected": (("figure", "number"), "name the figure, or the case and tracer of a submission"),
    "withdrawn": (("submission",), "withdraw the whole submission; a figure is corrected"),
    "accepted": (("submission",), "accept the whole submission"),
}
"""What each kind of change can happen to, and what to do about another."""

FIXED = {"results": 2, "releases": 1}
"""Folders whose things never change once they are there, and how deep a thing lies."""


@rule("known-changes")
def _known_changes(log: tuple[ChangesFile, DataFolder]) -> Iterator[Fault]:
    document, data = log
    last = ""
    for change in document.changes:
        if change.date < last:
            yield Fault(CHANGES_FILE, None, f"{change.date} comes after {last}", "append an entry at the end")
        last = max(last, change.date)
        kinds, hint = OF_KIND[change.kind]
        for what in change.what:
            entry = f"{change.date}, {change.kind}: `{printable(what)}`"
            kind, is_there = _thing(what, data)
            if kind not in kinds:
                yield Fault(CHANGES_FILE, None, f"{entry} is a {kind}", hint)
            elif not is_there:
                message = f"{entry} is not in the data"
                yield Fault(CHANGES_FILE, None, message, "write an id as the site's addresses have it")
    if not (data.root / CHANGES_FILE).exists():
        return  # nobody looks there for new sources
    listed = {what for change in document.changes if change.kind == "added" for what in change.what}
    for folder in data.sources():
        if folder.name not in listed:
            message = f"source `{printable(folder.name)}` was never added"
            yield Fault(CHANGES_FILE, None, message, 'append an entry of kind "added" with its day')


def _thing(what: str, data: DataFolder) -> tuple[str, bool]:
    """What an id of the log is of: source, figure, submission or number; and whether it is there."""
    source, sign, figure = what.partition("#")
    if sign:
        return "figure", figure in _figures_of(data, source)
    if "/" not in what:
        return "source", (data.root / "published" / what).is_dir()
    machine, folder, *number = what.split("/")
    submission = SubmissionFolder(data.results / machine / folder)
    if not number:
        return "submission", submission.folder.is_dir()
    rows = read_samples(submission.samples, submission.id)[0]
    return "number", any(
        number == [part for part in (row.case, row.tracer, row.level) if part is not None] for row in rows
    )


MOST_FILES = 1000
"""Of one change: about 400 submissions."""


@rule("change-size")
def change_size(files: TreeDifference) -> Iterator[Fault]:
    """Asked first, because the time of all other rules grows with the size of the change."""
    if (number := len(files.added) + len(files.changed)) > MOST_FILES:
        yield Fault("", None, f"{number} files are added or changed")


@rule("append-only")
def _append_only(files: TreeDifference) -> Iterator[Fault]:
    words = (("is added to", files.added), ("is changed in", files.changed), ("is gone from", files.gone))
    things = [f"{part}/{thing}/" for part, depth in FIXED.items() for thing in files.things(part, depth)]
    for prefix in (thing for thing in things if (files.base.root / thing).is_dir()):
        for what, paths in words:
            for path in (changed_path for changed_path in paths if changed_path.startswith(prefix)):
                yield Fault(path, None, f"{what} what is published, which stays as it is")


@rule("log-append-only")
def _kept_entries(files: TreeDifference) -> Iterator[Fault]:
    before, after = _log(files.base), _log(files.head)
    if before and after is not None:
        for position, (entry, now) in enumerate(zip_longest(before, after[: len(before)]), start=1):
            if entry != now:
                yield Fault(CHANGES_FILE, None, f"entry {position}, of {entry.date}, is not as it was published")
                return


@rule("told-correction")
def _told_corrections(files: TreeDifference) -> Iterator[Fault]:
    before = _log(files.base) or ()
    fresh = [entry for entry in _log(files.head) or () if entry not in before]
    told = {what for entry in fresh if entry.kind == "corrected" for what in entry.what}
    for source in files.things("published", 1):
        file, new = f"published/{source}/figures.csv", _figures_of(files.head, source)
        for name, figure in _figures_of(files.base, source).items():
            now, shown = new.get(name), f"figure `{printable(name)}`"
            if now is None:
                yield Fault(file, None, f"{shown} is gone, and somebody may have cited it", "restore it, or correct it")
            elif now.said != figure.said and f"{source}#{name}" not in told:
                yield Fault(file, now.line, f"{shown} is corrected, and the change log does not say so")


def _log(data: DataFolder) -> tuple[Change, ...] | None:
    document = read_changes(data)[0]
    return document.changes if document else None


def _figures_of(data: DataFolder, source: str) -> dict[str, Figure]:
    figures = read_figures(data.root / "published" / source / "figures.csv", source)[0]
    return {figure.figure: figure for figure in figures}


UNREADABLE = (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error)
"""What `zipfile` raises for an archive that is damaged, encrypted, or packed in a way that it does not know."""


@rule("release-files")
def _release_files(checked: tuple[Release, DataFolder]) -> Iterator[Fault]:
    release, data = checked
    path_by_name = {path.name: path for path in release.folder.iterdir()}
    for name in sorted(path_by_name.keys() ^ set(release.names)):
        yield Fault(printable(name), None, "is not a file of a release" if name in path_by_name else "is missing")
    if odd := [name for name, path in path_by_name.items() if path.is_symlink() or not path.is_file()]:
        for name in odd:
            yield Fault(printable(name), None, "is not a regular file", "put the file itself here")
        return  # a pipe has no end
    yield from _sums(release)
    yield from _archive(release)
    # Suites get new versions and figures get corrections; nobody changes results.
    for file in (file for file in release.document.files if file.path.startswith("results/")):
        path = data.root / file.path
        if not (path.is_file() and sha256(path) == file.sha256):
            message = f"{file.path} is no longer as it was released"
            yield Fault(MANIFEST, None, message, "rows are only added, never changed")


def _sums(release: Release) -> Iterator[Fault]:
    try:
        lines = (release.folder / SUMS).read_text(encoding="utf-8").splitlines()
        wanted = {name: sha256(release.folder / name) for name in release.names if name != SUMS}
    except (OSError, UnicodeDecodeError):
        return  # told as missing already, or not readable as the list that it has to be
    for name, digest in wanted.items():
        if f"{digest}  {name}" not in lines:
            yield Fault(SUMS, None, f"does not have the hash of {name}")


def _archive(release: Release) -> Iterator[Fault]:
    name = release.archive.name
    try:
        with zipfile.ZipFile(release.archive) as archive:
            for file in release.document.files:
                member = f"{release.archive.stem}/data/{file.path}"
                if member not in archive.NameToInfo:
                    yield Fault(name, None, f"does not hold {file.path}")
                # The length is looked at first: an archive may be made to unpack to more than a machine has.
                elif (
                    archive.getinfo(member).file_size != file.bytes
                    or file.bytes > MAX_FILE_BYTES
                    or hashlib.sha256(archive.read(member)).hexdigest() != file.sha256
                ):
                    yield Fault(name, None, f"{file.path} is not as the manifest says")
    except UNREADABLE:
        if release.archive.exists():
            yield Fault(name, None, "is not a sound zip archive")


CHANGE_RULES = (_known_changes,)
RELEASE_RULES = (_release_files,)
DIFFERENCE_RULES = (change_size, _append_only, _kept_entries, _told_corrections)
"""Rules about a change of the data: about what is published, and what a change would make of it."""


@dataclass(frozen=True, slots=True)
class CheckedTools:
    """A package of standard tools that could be read, and the suites that its cases are of."""

    path: Path
    package: ToolPackage
    suites: Mapping[str, Suite]

    def fault(self, keys: tuple[str | int, ...], message: str, hint: str | None = None) -> Fault:
        return Fault(self.path.name, value_line(self.path, keys), message, hint)


NAME_TRACER = f"name one of {', '.join(sorted(TOOLS))}"


@rule("known-tools")
def _known_tools(checked: CheckedTools) -> Iterator[Fault]:
    times = Counter(tool.name for tool in checked.package.tools)
    cases = {case.id for suite in checked.suites.values() for case in suite.cases}
    if checked.package.tracer not in TOOLS:
        yield checked.fault(("tracer",), "no suite has scripts for this tracer", NAME_TRACER)
    for index, tool in enumerate(checked.package.tools):
        if times[tool.name] > 1:
            message = f"there are two tools `{printable(tool.name)}`"
            yield checked.fault(("tools", index, "name"), message, "describe each tool once")
        if tool.tracer is not None and tool.tracer not in TOOLS:
            yield checked.fault(("tools", index, "tracer"), "no suite has scripts for this tracer", NAME_TRACER)
        if tool.case is not None and tool.case not in cases:
            message = "no suite has this case"
            yield checked.fault(("tools", index, "case"), message, "name one of `probe-effect suites`")


@rule("tools-form")
def _tools_form(checked: CheckedTools) -> Iterator[Fault]:
    if checked.path.read_text(encoding="utf-8") != transcripts.written(checked.package):
        yield Fault(checked.path.name, None, "is not in its one form")


@rule("explained-tools")
def _explained_tools(checked: CheckedTools) -> Iterator[Fault]:
    for index, tool in enumerate(checked.package.tools):
        if not tool.probes and tool.remark is None:
            yield checked.fault(("tools", index), f"`{printable(tool.name)}` has no probes, and no remark says why")


TOOL_RULES = (_known_tools, _tools_form, _explained_tools)


Transcripts = tuple[Sequence[Shown], DataFolder]
"""All that could be read, and where they lie."""


def _of(entry: Shown, message: str) -> Fault:
    hint = f"run `probe-effect transcripts --write {entry.transcript.id}`"
    return Fault(f"{entry.chapter}.toml", None, f"`{printable(entry.transcript.id)}` {message}", hint)


@rule("transcript-ids")
def _ids(checked: Transcripts) -> Iterator[Fault]:
    times = Counter(entry.transcript.id for entry in checked[0])
    for entry in (entry for entry in checked[0] if times[entry.transcript.id] > 1):
        yield Fault(f"{entry.chapter}.toml", None, f"`{entry.transcript.id}` is the id of several")


@rule("transcript-recorded")
def _recorded(checked: Transcripts) -> Iterator[Fault]:
    shown, data = checked
    for entry in shown:
        if entry.recorded is None:
            yield _of(entry, "was never recorded")
        elif not entry.recorded.is_of(entry.transcript):
            yield _of(entry, "was recorded with another command")
    paths = {transcripts.recorded_file(data, entry.transcript.id) for entry in shown}
    for path in (path for path in transcripts.recorded_files(data) if path not in paths):
        yield Fault(f"recorded/{printable(path.name)}", None, "is of no transcript", "remove it")


@rule("transcript-shows")
def _shows(checked: Transcripts) -> Iterator[Fault]:
    for entry in checked[0]:
        for pattern in entry.transcript.missing_from(entry.recorded.output) if entry.recorded else ():
            yield _of(entry, f"does not show {printable(pattern)}")


TRANSCRIPT_RULES = (_ids, _recorded, _shows)


@rule("explanation-names")
def _names(checked: tuple[Path, Sequence[Explanation | Claim], frozenset[str]]) -> Iterator[Fault]:
    """Of the entries of a file, which may name cases, tools and references that are known."""
    file, entries, all_names = checked
    for index, entry in enumerate(entries):
        named = entry.names if isinstance(entry, Claim) else {*entry.cases, *entry.tools, *entry.references}
        if unknown := ", ".join(sorted(named - all_names)):
            line = value_line(file, (type(entry).__name__.lower(), index))
            yield Fault(file.name, line, f"`{entry.id}` names what is not there: {unknown}")


EXPLANATION_RULES = (_names,)


def check_beside(data: DataFolder) -> list[Problem]:
    suites_here, name = known_suites(data), names_in(data.root, data)
    log, problems = read_changes(data)
    if log is not None:
        problems += broken(CHANGE_RULES, (log, data), name)
    releases, faults = read_releases(data)
    problems += faults
    for release in releases:
        problems += broken(RELEASE_RULES, (release, data), names_in(release.folder, data))
    packages, faults = read_documents(transcripts.tool_files(data), data, "tools", ToolPackage)
    problems += faults
    for path, package in packages.items():
        problems += broken(TOOL_RULES, CheckedTools(path, package, suites_here), names_in(path.parent, data))
    shown, faults = transcripts.read_transcripts(data)
    problems += [*faults, *broken(TRANSCRIPT_RULES, (shown, data), names_in(data.root / "transcripts", data))]
    references, faults = beside_files.read_references(data)
    problems += faults
    cases = {case.id for suite in suites_here.values() for case in suite.cases}
    all_names = frozenset({*cases, *TOOLS, *(reference.id for reference in references)})
    explanations, faults = beside_files.read_explanations(data)
    problems += [*faults, *broken(EXPLANATION_RULES, (data.root / "explanations.toml", explanations, all_names), name)]
    claims, faults = beside_files.read_claims(data)
    problems += [*faults, *broken(EXPLANATION_RULES, (data.root / "claims.toml", claims, all_names), name)]
    return [*problems, *transcripts.read_mechanisms(data)[1]]


MAX_FIGURES = 1000
"""Of one source; their formulas are all computed."""

NOTHING = frozenset({"not stated", "unknown", "none", "n/a", "tbd", "todo", "?"})

DOCUMENT, FIGURES = "source.toml", "figures.csv"


@dataclass(frozen=True, slots=True)
class CheckedSource:
    """A published source whose files could be read."""

    folder: Path
    document: SourceFile
    figures: Sequence[Figure]
    values: Mapping[str, Fraction]


@rule("source-size")
def source_size(figures: Sequence[Figure]) -> Iterator[Fault]:
    """Asked before all others of a source."""
    if len(figures) > MAX_FIGURES:
        yield Fault(FIGURES, None, f"holds more than {MAX_FIGURES} figures")


@rule("source/folder-name")
def _folder_name(checked: CheckedSource) -> Iterator[Fault]:
    if not re.fullmatch(SLUG, checked.folder.name) or checked.folder.name in TAKEN:
        yield Fault(DOCUMENT, None, f"folder `{printable(checked.folder.name)}` is not an id")


@rule("findable-source")
def _findable_source(checked: CheckedSource) -> Iterator[Fault]:
    document = checked.document
    if {text.strip().lower() for text in (document.title, document.author, document.where)} <= NOTHING:
        line = value_line(checked.folder / DOCUMENT, ["where"])
        yield Fault(DOCUMENT, line, "neither title, author nor place of the source is stated")


@rule("derived-figures")
def _derived_figures(checked: CheckedSource) -> Iterator[Fault]:
    ids = Counter(figure.figure for figure in checked.figures)
    for figure in checked.figures:
        if figure.figure in TAKEN:
            yield Fault(FIGURES, figure.line, f"`{figure.figure}` is a name that pages use", "give it another id")
        if ids[figure.figure] > 1:
            yield Fault(FIGURES, figure.line, f"there are two figures `{figure.figure}`", "give each figure its own id")
        try:
            for message, hint in _wrong_cells(figure, checked.values):
                yield Fault(FIGURES, figure.line, message, hint)
        except FormulaError as error:
            yield Fault(FIGURES, figure.line, str(error), "use figure ids of this file and + - * / ( )")


def _wrong_cells(figure: Figure, values: Mapping[str, Fraction]) -> Iterator[tuple[str, str]]:
    """Cells that are missing, or not what their formula gives; and how to mend them. Raises: FormulaError."""
    if figure.printed is None and figure.formula is None:
        yield "neither printed nor derived", "fill `printed` or `formula`"
    if (figure.cost_ns is None) != (figure.cost_from is None):
        yield "cost_ns and cost_from come together", "say whether it was printed or derived"
    if (figure.baseline_ns is None) != (figure.baseline_from is None):
        yield "baseline_ns and baseline_from come together", "say where it comes from"
    if figure.baseline_from == "derived" and figure.baseline_formula is None:
        yield "a derived baseline without baseline_formula", "say how it follows"
    recomputed, hint = recompute(figure, values), "write what the formula gives"
    if recomputed and figure.printed is None and recomputed.verdict != "agrees":
        yield f"value {figure.value} {figure.unit}, but its formula gives {float(recomputed.value):.6g}", hint
    of_cost = figure.formula if figure.cost_from == "derived" else None
    derived = {"cost_ns": (figure.cost_ns, of_cost), "baseline_ns": (figure.baseline_ns, figure.baseline_formula)}
    for column, (written, formula) in derived.items():
        if written is not None and formula is not None:
            value = evaluate(formula, values)
            if compare(written, value) != "agrees":
                yield f"{column} is {written}, but its formula gives {float(value):.6g}", hint


@rule("standing-findings")
def _standing_findings(checked: CheckedSource) -> Iterator[Fault]:
    """A contradiction that a source's page tells of is really in its figures."""
    figures, document = {figure.figure: figure for figure in checked.figures}, checked.document
    notes = (repetition.note for repetition in document.repeated if repetition.note is not None)
    for sentence in (
        document.summary,
        *document.remarks,
        *(contradiction.sentence for contradiction in document.findings),
        *notes,
    ):
        try:
            fill(sentence, figures)
        except FormulaError as error:
            yield Fault(DOCUMENT, None, str(error), "placeholders are figure ids of figures.csv")
    for finding in document.findings:
        try:
            if not stands(finding, checked.values):
                message = f"finding `{finding.id}`: the source agrees with itself there"
                yield Fault(DOCUMENT, None, message, "remove the finding, or mend the figures")
        except FormulaError as error:
            yield Fault(DOCUMENT, None, f"finding `{finding.id}`: {error}", "agrees_if is one comparison of figures")


SOURCE_RULES = (_folder_name, _findable_source, _derived_figures, _standing_findings)
