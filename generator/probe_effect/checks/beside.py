"""Checks of what is in a data folder beside submissions, sources and suites: change log, releases, tools and texts."""

from probe_effect.checks import changes, explanations, releases, tools, transcripts
from probe_effect.checks.rule import broken, names_in
from probe_effect.model import Problem
from probe_effect.store.changes_file import read_changes
from probe_effect.store.claims_file import read_claims
from probe_effect.store.explanations_file import read_explanations, read_references
from probe_effect.store.places import DataFolder
from probe_effect.store.release_file import read_releases
from probe_effect.store.suite_file import known_suites
from probe_effect.store.tools_file import read_tools, tool_files
from probe_effect.store.transcripts import read_transcripts


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
        checked = releases.CheckedRelease(release, data)
        problems += broken(releases.RULES, checked, names_in(release.folder, data))
    return problems


def check_tools(data: DataFolder) -> list[Problem]:
    """Every problem of the packages of standard tools."""
    suites_here = known_suites(data)
    problems = []
    for path in tool_files(data):
        package, faults = read_tools(path, data.relative(path))
        problems += faults
        if package is not None:
            checked = tools.CheckedTools(path, package, suites_here)
            problems += broken(tools.RULES, checked, names_in(path.parent, data))
    return problems


def check_transcripts(data: DataFolder) -> list[Problem]:
    """Every problem of the transcripts of the guide."""
    shown, problems = read_transcripts(data)
    checked = transcripts.CheckedTranscripts(data, shown)
    return [*problems, *broken(transcripts.RULES, checked, names_in(data.root / "transcripts", data))]


def check_references(data: DataFolder) -> list[Problem]:
    """Every problem of the references, of the explanations that rest on them, and of the claims."""
    references, problems = read_references(data)
    for file, read in (("explanations.toml", read_explanations), ("claims.toml", read_claims)):
        known, faults = read(data)
        checked = explanations.CheckedExplanations(data.root / file, known, known_suites(data), references)
        problems += [*faults, *broken(explanations.RULES, checked, names_in(data.root, data))]
    return problems


CHECKS = (check_changes, check_releases, check_tools, check_transcripts, check_references)
"""All of these, in their order."""
