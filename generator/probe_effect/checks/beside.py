"""What is beside submissions, sources and suites in a data folder: change log, releases, standard tools and texts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from probe_effect.checks import changes
from probe_effect.checks.rule import Fault, broken, names_in, rule
from probe_effect.model import Problem
from probe_effect.store.beside_files import (
    Claim,
    Explanation,
    Reference,
    read_changes,
    read_claims,
    read_explanations,
    read_references,
)
from probe_effect.store.documents import read_documents, value_line
from probe_effect.store.mechanisms_file import read_mechanisms
from probe_effect.store.places import DataFolder
from probe_effect.store.release_file import read_releases
from probe_effect.store.suite_file import Suite, known_suites
from probe_effect.store.tables import printable
from probe_effect.store.transcripts import (
    Shown,
    ToolPackage,
    read_transcripts,
    recorded_file,
    recorded_files,
    tool_files,
    written,
)
from probe_effect.tools.record import TOOLS


@dataclass(frozen=True, slots=True)
class CheckedTools:
    """A package of standard tools that could be read, and the suites that its cases are of."""

    path: Path
    package: ToolPackage
    suites: Mapping[str, Suite]

    def fault(self, keys: tuple[str | int, ...], found: str, hint: str | None = None) -> Fault:
        """What is wrong at `keys`, with its line."""
        return Fault(self.path.name, value_line(self.path, keys), found, hint)


@rule("known-tools")
def _known_tools(checked: CheckedTools) -> Iterator[Fault]:
    times = Counter(tool.name for tool in checked.package.tools)
    cases = {case.id for suite in checked.suites.values() for case in suite.cases}
    if checked.package.tracer not in TOOLS:
        yield checked.fault(("tracer",), "no suite has scripts for this tracer", _tracers())
    for place, tool in enumerate(checked.package.tools):
        at = ("tools", place)
        if times[tool.name] > 1:
            found = f"there are two tools `{printable(tool.name)}`"
            yield checked.fault((*at, "name"), found, "describe each tool once")
        if tool.tracer is not None and tool.tracer not in TOOLS:
            yield checked.fault((*at, "tracer"), "no suite has scripts for this tracer", _tracers())
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


def _tracers() -> str:
    return f"name one of {', '.join(sorted(TOOLS))}"


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


@dataclass(frozen=True, slots=True)
class CheckedExplanations:
    """All explanations, or all claims, with their file; the suites, and all references."""

    file: Path
    known: Sequence[Explanation | Claim]
    suites: Mapping[str, Suite]
    references: Sequence[Reference]


@rule("explanation-names")
def _names(checked: CheckedExplanations) -> Iterator[Fault]:
    known = {case.id for suite in checked.suites.values() for case in suite.cases}
    known |= {*TOOLS, *(one.id for one in checked.references)}
    for place, one in enumerate(checked.known):
        named = one.names if isinstance(one, Claim) else {*one.cases, *one.tools, *one.references}
        if unknown := named - known:
            found = f"`{one.id}` names what is not there: {', '.join(sorted(unknown))}"
            line = value_line(checked.file, (type(one).__name__.lower(), place))
            yield Fault(checked.file.name, line, found)


EXPLANATION_RULES = (_names,)


def check_changes(data: DataFolder) -> list[Problem]:
    """Every problem of the change log."""
    document, problems = read_changes(data)
    if document is None:
        return problems
    return broken(changes.RULES, changes.CheckedChanges(document, data), names_in(data.root, data))


def check_releases(data: DataFolder) -> list[Problem]:
    """Every problem of the releases."""
    found, problems = read_releases(data)
    for release in found:
        checked = changes.CheckedRelease(release, data)
        problems += broken(changes.RELEASE_RULES, checked, names_in(release.folder, data))
    return problems


def check_tools(data: DataFolder) -> list[Problem]:
    """Every problem of the packages of standard tools."""
    suites_here = known_suites(data)
    packages, problems = read_documents(tool_files(data), data, "tools", ToolPackage)
    for path, package in packages.items():
        problems += broken(TOOL_RULES, CheckedTools(path, package, suites_here), names_in(path.parent, data))
    return problems


def check_transcripts(data: DataFolder) -> list[Problem]:
    """Every problem of the transcripts of the guide."""
    shown, problems = read_transcripts(data)
    checked = CheckedTranscripts(data, shown)
    return [*problems, *broken(TRANSCRIPT_RULES, checked, names_in(data.root / "transcripts", data))]


def check_references(data: DataFolder) -> list[Problem]:
    """Every problem of the references, of the explanations that rest on them, and of the claims."""
    references, problems = read_references(data)
    for file, read in (("explanations.toml", read_explanations), ("claims.toml", read_claims)):
        known, faults = read(data)
        checked = CheckedExplanations(data.root / file, known, known_suites(data), references)
        problems += [*faults, *broken(EXPLANATION_RULES, checked, names_in(data.root, data))]
    return problems


def check_mechanisms(data: DataFolder) -> list[Problem]:
    """Every problem of the mechanisms that were tried on kernels."""
    return read_mechanisms(data)[1]


CHECKS = (check_changes, check_releases, check_tools, check_transcripts, check_references, check_mechanisms)
"""All of these, in their order."""
