"""Which source tree a suite builds, where it builds one: the one that was named, or its own project, fetched once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from probe_effect.cli import output
from probe_effect.compilers import cache_folder
from probe_effect.emulated.project import fetched
from probe_effect.errors import UsageError
from probe_effect.measure.tree import named_tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from probe_effect.measure.request import Work
    from probe_effect.measure.tree import Tree
    from probe_effect.store.suite_file import Suite


def without_builds(suites: Sequence[tuple[Path, Suite]]) -> list[tuple[Path, Suite]]:
    """The suites that build nothing: what takes long, and is fetched, is measured only where somebody names it."""
    for _, suite in suites:
        if suite.workload.project is not None:
            output.say(f"left out: suite {suite.id} builds a project, which takes long; name it to measure it")
    return [one for one in suites if one[1].workload.project is None]


def tree_named(source: Path | None, suites: Sequence[tuple[Path, Suite]]) -> Tree | None:
    """The source tree that was named, if one was. Raises: UsageError where there is none, or nothing builds it."""
    if source is None:
        return None
    if all(suite.workload.project is None for _, suite in suites):
        msg = f"--source {source}: no suite that was named builds a source tree; name one that does, or leave it out"
        raise UsageError(msg)
    return named_tree(source)


def with_tree(work: Work, named: Tree | None) -> Work:
    """The work with the tree that it builds: the one that was named, or its own. Raises: HostNotReady."""
    project = work.suite.workload.project
    if project is None:
        return work
    return replace(work, tree=named or fetched(project, cache_folder(), output.say))
