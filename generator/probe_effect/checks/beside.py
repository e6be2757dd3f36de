"""What is beside submissions and suites in a data folder: published sources, change log, releases, standard tools
and texts.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from probe_effect.checks import changes
from probe_effect.checks.rule import Fault, broken, names_in, rule
from probe_effect.model import Problem
from probe_effect.numbers.published import FormulaError, compare, evaluate, fill, recompute, stands
from probe_effect.store.beside_files import (
    Claim,
    Explanation,
    Figure,
    SourceFile,
    read_changes,
    read_claims,
    read_explanations,
    read_references,
)
from probe_effect.store.documents import SLUG, TAKEN, read_documents, value_line
from probe_effect.store.places import DataFolder
from probe_effect.store.release_file import read_releases
from probe_effect.store.suite_file import Suite, known_suites
from probe_effect.store.tables import printable
from probe_effect.store.transcripts import (
    Shown,
    ToolPackage,
    read_mechanisms,
    read_transcripts,
    recorded_file,
    recorded_files,
    tool_files,
    written,
)
from probe_effect.tools import TOOLS


@dataclass(frozen=True, slots=True)
class CheckedTools:
    """A package of standard tools that could be read, and the suites that its cases are of."""

    path: Path
    package: ToolPackage
    suites: Mapping[str, Suite]

    def fault(self, keys: tuple[str | int, ...], found: str, hint: str | None = None) -> Fault:
        """What is wrong with the value at `keys`, at its line."""
        return Fault(self.path.name, value_line(self.path, keys), found, hint)


NAME_TRACER = f"name one of {', '.join(sorted(TOOLS))}"


@rule("known-tools")
def _known_tools(checked: CheckedTools) -> Iterator[Fault]:
    times = Counter(tool.name for tool in checked.package.tools)
    cases = {case.id for suite in checked.suites.values() for case in suite.cases}
    if checked.package.tracer not in TOOLS:
        yield checked.fault(("tracer",), "no suite has scripts for this tracer", NAME_TRACER)
    for place, tool in enumerate(checked.package.tools):
        at = ("tools", place)
        if times[tool.name] > 1:
            found = f"there are two tools `{printable(tool.name)}`"
            yield checked.fault((*at, "name"), found, "describe each tool once")
        if tool.tracer is not None and tool.tracer not in TOOLS:
            yield checked.fault((*at, "tracer"), "no suite has scripts for this tracer", NAME_TRACER)
        if tool.case is not None and tool.case not in cases:
            yield checked.fault((*at, "case"), "no suite has this case", "name one of `probe-effect suites`")


@rule("tools-form")
def _tools_form(checked: CheckedTools) -> Iterator[Fault]:
    if checked.path.read_text(encoding="utf-8") != written(checked.package):
        yield Fault(checked.path.name, None, "is not in its one form")


@rule("explained-tools")
def _explained_tools(checked: CheckedTools) -> Iterator[Fault]:
    for place, tool in enumerate(checked.package.tools):
        if not tool.probes and tool.remark is None:
            yield checked.fault(("tools", place), f"`{printable(tool.name)}` has no probes, and no remark says why")


TOOL_RULES = (_known_tools, _tools_form, _explained_tools)


AGAIN = "run `probe-effect transcripts --write {}`"


@dataclass(frozen=True, slots=True)
class CheckedTranscripts:
    """All transcripts that could be read."""

    data: DataFolder
    shown: Sequence[Shown]

    def fault(self, one: Shown, found: str, hint: str | None = None) -> Fault:
        """What is wrong with a transcript, in the file of its chapter."""
        return Fault(f"{one.chapter}.toml", None, f"`{printable(one.transcript.id)}` {found}", hint)


@rule("transcript-ids")
def _ids(checked: CheckedTranscripts) -> Iterator[Fault]:
    times = Counter(one.transcript.id for one in checked.shown)
    for one in checked.shown:
        if times[one.transcript.id] > 1:
            yield checked.fault(one, "is the id of several")


@rule("transcript-recorded")
def _recorded(checked: CheckedTranscripts) -> Iterator[Fault]:
    for one in checked.shown:
        if one.recorded is None or not one.recorded.is_of(one.transcript):
            found = "was never recorded" if one.recorded is None else "was recorded with another command"
            yield checked.fault(one, found, AGAIN.format(one.transcript.id))
    known = {recorded_file(checked.data, one.transcript.id) for one in checked.shown}
    for path in recorded_files(checked.data):
        if path not in known:
            yield Fault(f"recorded/{printable(path.name)}", None, "is of no transcript", "remove it")


@rule("transcript-shows")
def _shows(checked: CheckedTranscripts) -> Iterator[Fault]:
    for one in checked.shown:
        for pattern in one.transcript.missing_from(one.recorded.output) if one.recorded else ():
            yield checked.fault(one, f"does not show {printable(pattern)}", AGAIN.format(one.transcript.id))


TRANSCRIPT_RULES = (_ids, _recorded, _shows)


@rule("explanation-names")
def _names(checked: tuple[Path, Sequence[Explanation | Claim], frozenset[str]]) -> Iterator[Fault]:
    """Of the entries of a file, which may name cases, tools and references that are known."""
    file, entries, known = checked
    for place, entry in enumerate(entries):
        named = entry.names if isinstance(entry, Claim) else {*entry.cases, *entry.tools, *entry.references}
        if unknown := named - known:
            found = f"`{entry.id}` names what is not there: {', '.join(sorted(unknown))}"
            line = value_line(file, (type(entry).__name__.lower(), place))
            yield Fault(file.name, line, found)


EXPLANATION_RULES = (_names,)


def _check_changes(data: DataFolder) -> list[Problem]:
    document, problems = read_changes(data)
    if document is None:
        return problems
    return broken(changes.RULES, (document, data), names_in(data.root, data))


def _check_releases(data: DataFolder) -> list[Problem]:
    found, problems = read_releases(data)
    for release in found:
        problems += broken(changes.RELEASE_RULES, (release, data), names_in(release.folder, data))
    return problems


def _check_tools(data: DataFolder) -> list[Problem]:
    suites_here = known_suites(data)
    packages, problems = read_documents(tool_files(data), data, "tools", ToolPackage)
    for path, package in packages.items():
        problems += broken(TOOL_RULES, CheckedTools(path, package, suites_here), names_in(path.parent, data))
    return problems


def _check_transcripts(data: DataFolder) -> list[Problem]:
    shown, problems = read_transcripts(data)
    checked = CheckedTranscripts(data, shown)
    return [*problems, *broken(TRANSCRIPT_RULES, checked, names_in(data.root / "transcripts", data))]


def _check_references(data: DataFolder) -> list[Problem]:
    references, problems = read_references(data)
    cases = {case.id for suite in known_suites(data).values() for case in suite.cases}
    known = frozenset({*cases, *TOOLS, *(reference.id for reference in references)})
    for file, read in (("explanations.toml", read_explanations), ("claims.toml", read_claims)):
        entries, faults = read(data)
        checked = data.root / file, entries, known
        problems += [*faults, *broken(EXPLANATION_RULES, checked, names_in(data.root, data))]
    return problems


def check_beside(data: DataFolder) -> list[Problem]:
    """Every problem of what is beside submissions, sources and suites in a data folder."""
    parts = (_check_changes, _check_releases, _check_tools, _check_transcripts, _check_references)
    return [*(problem for check in parts for problem in check(data)), *read_mechanisms(data)[1]]


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
    if all(said.strip().lower() in NOTHING for said in (document.title, document.author, document.where)):
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
        for found, hint in _missing(figure):
            yield Fault(FIGURES, figure.line, found, hint)
        try:
            for found in _differing(figure, checked.values):
                yield Fault(FIGURES, figure.line, found, "write what the formula gives")
        except FormulaError as error:
            yield Fault(FIGURES, figure.line, str(error), "use figure ids of this file and + - * / ( )")


def _missing(figure: Figure) -> Iterator[tuple[str, str]]:
    if figure.printed is None and figure.formula is None:
        yield "neither printed nor derived", "fill `printed` or `formula`"
    if (figure.cost_ns is None) != (figure.cost_from is None):
        yield "cost_ns and cost_from come together", "say whether it was printed or derived"
    if (figure.baseline_ns is None) != (figure.baseline_from is None):
        yield "baseline_ns and baseline_from come together", "say where it comes from"
    if figure.baseline_from == "derived" and figure.baseline_formula is None:
        yield "a derived baseline without baseline_formula", "say how it follows"


def _differing(figure: Figure, values: Mapping[str, Fraction]) -> Iterator[str]:
    """Cells that are not what their formula gives. Raises: FormulaError."""
    recomputed = recompute(figure, values)
    if recomputed and figure.printed is None and recomputed.verdict != "agrees":
        yield f"value {figure.value} {figure.unit}, but its formula gives {float(recomputed.value):.6g}"
    derived = {
        "cost_ns": figure.formula if figure.cost_from == "derived" else None,
        "baseline_ns": figure.baseline_formula,
    }
    for column, formula in derived.items():
        written = getattr(figure, column)
        if written is not None and formula is not None:
            value = evaluate(formula, values)
            if compare(written, value) != "agrees":
                yield f"{column} is {written}, but its formula gives {float(value):.6g}"


@rule("standing-findings")
def _standing_findings(checked: CheckedSource) -> Iterator[Fault]:
    """A contradiction that a source's page tells of is really in its figures."""
    figures = {figure.figure: figure for figure in checked.figures}
    document = checked.document
    notes = (one.note for one in document.repeated if one.note is not None)
    sentences = (finding.sentence for finding in document.findings)
    for sentence in (document.summary, *document.remarks, *sentences, *notes):
        try:
            fill(sentence, figures)
        except FormulaError as error:
            yield Fault(DOCUMENT, None, str(error), "placeholders are figure ids of figures.csv")
    for finding in document.findings:
        try:
            if not stands(finding, checked.values):
                found = f"finding `{finding.id}`: the source agrees with itself there"
                yield Fault(DOCUMENT, None, found, "remove the finding, or mend the figures")
        except FormulaError as error:
            yield Fault(DOCUMENT, None, f"finding `{finding.id}`: {error}", "agrees_if is one comparison of figures")


SOURCE_RULES = (_folder_name, _findable_source, _derived_figures, _standing_findings)
