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
from probe_effect.records import TOOLS
from probe_effect.store import beside_files, transcripts
from probe_effect.store.beside_files import Claim, Explanation, Figure, SourceFile
from probe_effect.store.documents import SLUG, TAKEN, read_documents, value_line
from probe_effect.store.places import DataFolder
from probe_effect.store.release_file import read_releases
from probe_effect.store.suite_file import Suite, known_suites
from probe_effect.store.tables import printable
from probe_effect.store.transcripts import Shown, ToolPackage


@dataclass(frozen=True, slots=True)
class CheckedTools:
    """A package of standard tools that could be read, and the suites that its cases are of."""

    path: Path
    package: ToolPackage
    suites: Mapping[str, Suite]

    def fault(self, keys: tuple[str | int, ...], found: str, hint: str | None = None) -> Fault:
        return Fault(self.path.name, value_line(self.path, keys), found, hint)


NAME_TRACER = f"name one of {', '.join(sorted(TOOLS))}"


@rule("known-tools")
def _known_tools(checked: CheckedTools) -> Iterator[Fault]:
    times = Counter(tool.name for tool in checked.package.tools)
    cases = {case.id for suite in checked.suites.values() for case in suite.cases}
    if checked.package.tracer not in TOOLS:
        yield checked.fault(("tracer",), "no suite has scripts for this tracer", NAME_TRACER)
    for place, tool in enumerate(checked.package.tools):
        if times[tool.name] > 1:
            found = f"there are two tools `{printable(tool.name)}`"
            yield checked.fault(("tools", place, "name"), found, "describe each tool once")
        if tool.tracer is not None and tool.tracer not in TOOLS:
            yield checked.fault(("tools", place, "tracer"), "no suite has scripts for this tracer", NAME_TRACER)
        if tool.case is not None and tool.case not in cases:
            found = "no suite has this case"
            yield checked.fault(("tools", place, "case"), found, "name one of `probe-effect suites`")


@rule("tools-form")
def _tools_form(checked: CheckedTools) -> Iterator[Fault]:
    if checked.path.read_text(encoding="utf-8") != transcripts.written(checked.package):
        yield Fault(checked.path.name, None, "is not in its one form")


@rule("explained-tools")
def _explained_tools(checked: CheckedTools) -> Iterator[Fault]:
    for place, tool in enumerate(checked.package.tools):
        if not tool.probes and tool.remark is None:
            yield checked.fault(("tools", place), f"`{printable(tool.name)}` has no probes, and no remark says why")


TOOL_RULES = (_known_tools, _tools_form, _explained_tools)


Transcripts = tuple[Sequence[Shown], DataFolder]
"""All that could be read, and where they lie."""


def _of(one: Shown, found: str) -> Fault:
    hint = f"run `probe-effect transcripts --write {one.transcript.id}`"
    return Fault(f"{one.chapter}.toml", None, f"`{printable(one.transcript.id)}` {found}", hint)


@rule("transcript-ids")
def _ids(checked: Transcripts) -> Iterator[Fault]:
    times = Counter(one.transcript.id for one in checked[0])
    for one in (one for one in checked[0] if times[one.transcript.id] > 1):
        yield Fault(f"{one.chapter}.toml", None, f"`{one.transcript.id}` is the id of several")


@rule("transcript-recorded")
def _recorded(checked: Transcripts) -> Iterator[Fault]:
    shown, data = checked
    for one in shown:
        if one.recorded is None:
            yield _of(one, "was never recorded")
        elif not one.recorded.is_of(one.transcript):
            yield _of(one, "was recorded with another command")
    known = {transcripts.recorded_file(data, one.transcript.id) for one in shown}
    for path in (path for path in transcripts.recorded_files(data) if path not in known):
        yield Fault(f"recorded/{printable(path.name)}", None, "is of no transcript", "remove it")


@rule("transcript-shows")
def _shows(checked: Transcripts) -> Iterator[Fault]:
    for one in checked[0]:
        for pattern in one.transcript.missing_from(one.recorded.output) if one.recorded else ():
            yield _of(one, f"does not show {printable(pattern)}")


TRANSCRIPT_RULES = (_ids, _recorded, _shows)


@rule("explanation-names")
def _names(checked: tuple[Path, Sequence[Explanation | Claim], frozenset[str]]) -> Iterator[Fault]:
    """Of the entries of a file, which may name cases, tools and references that are known."""
    file, entries, known = checked
    for place, entry in enumerate(entries):
        named = entry.names if isinstance(entry, Claim) else {*entry.cases, *entry.tools, *entry.references}
        if unknown := ", ".join(sorted(named - known)):
            line = value_line(file, (type(entry).__name__.lower(), place))
            yield Fault(file.name, line, f"`{entry.id}` names what is not there: {unknown}")


EXPLANATION_RULES = (_names,)


def check_beside(data: DataFolder) -> list[Problem]:
    suites_here, name = known_suites(data), names_in(data.root, data)
    log, problems = beside_files.read_changes(data)
    if log is not None:
        problems += broken(changes.RULES, (log, data), name)
    releases, faults = read_releases(data)
    problems += faults
    for release in releases:
        problems += broken(changes.RELEASE_RULES, (release, data), names_in(release.folder, data))
    packages, faults = read_documents(transcripts.tool_files(data), data, "tools", ToolPackage)
    problems += faults
    for path, package in packages.items():
        problems += broken(TOOL_RULES, CheckedTools(path, package, suites_here), names_in(path.parent, data))
    shown, faults = transcripts.read_transcripts(data)
    problems += [*faults, *broken(TRANSCRIPT_RULES, (shown, data), names_in(data.root / "transcripts", data))]
    references, faults = beside_files.read_references(data)
    problems += faults
    cases = {case.id for suite in suites_here.values() for case in suite.cases}
    known = frozenset({*cases, *TOOLS, *(reference.id for reference in references)})
    explanations, faults = beside_files.read_explanations(data)
    problems += [*faults, *broken(EXPLANATION_RULES, (data.root / "explanations.toml", explanations, known), name)]
    claims, faults = beside_files.read_claims(data)
    problems += [*faults, *broken(EXPLANATION_RULES, (data.root / "claims.toml", claims, known), name)]
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
    if {said.strip().lower() for said in (document.title, document.author, document.where)} <= NOTHING:
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
            for found, hint in _wrong_cells(figure, checked.values):
                yield Fault(FIGURES, figure.line, found, hint)
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
    notes = (one.note for one in document.repeated if one.note is not None)
    for sentence in (document.summary, *document.remarks, *(one.sentence for one in document.findings), *notes):
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
