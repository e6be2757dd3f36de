"""The problems that a change of the data brings: old ones do not hold up somebody who did not make them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from probe_effect.checks.changes import DIFFERENCE_RULES
from probe_effect.checks.rule import broken, names_in
from probe_effect.checks.run import check_all
from probe_effect.model import Problem
from probe_effect.store.difference import TreeDifference


@dataclass(frozen=True, slots=True)
class NewProblems:
    """What is wrong in the new state, and what the step from the old one to it breaks."""

    of_state: tuple[Problem, ...]
    of_change: tuple[Problem, ...]

    @property
    def all(self) -> tuple[Problem, ...]:
        """Errors first."""
        return tuple(sorted((*self.of_change, *self.of_state), key=lambda one: one.severity != "error"))


def new_problems(files: TreeDifference) -> NewProblems:
    """The problems of the new state that the old one has not."""
    old = {_same(problem) for problem in check_all(files.base)}
    return NewProblems(
        _of_what_changed([problem for problem in check_all(files.head) if _same(problem) not in old], files),
        tuple(broken(DIFFERENCE_RULES, files, names_in(files.head.root, files.head))),
    )


def _of_what_changed(problems: Sequence[Problem], files: TreeDifference) -> tuple[Problem, ...]:
    """Those of folders that changed first; where two do not go together, what was published before is not blamed."""
    changed = {PurePosixPath(path).parent for path in files.all}
    own = [one for one in problems if PurePosixPath(_inside(one)).parent in changed]
    told = {one.rule for one in own}
    return (*own, *(one for one in problems if one.rule not in told))


def _inside(problem: Problem) -> str:
    """The file's path below the data folder, wherever that lies."""
    return problem.file.partition("/")[2]


def _same(problem: Problem) -> tuple[str, str, str]:
    """What makes a problem the same in both: not its line, and not where the data folder lies."""
    return _inside(problem), problem.rule, problem.message
