"""Every error that a caller acts on; `cli` alone turns them into output and an exit status.

A message says, in this order: where, what was found, what was expected, what to do next.
"""

import difflib
from collections.abc import Iterable, Sequence

from probe_effect.model import Problem


class ProbeEffectError(Exception):
    """A failure with a message for the user."""

    exit_status = 1


class UsageError(ProbeEffectError):
    """The command was called wrongly: unknown suite, case, tracer or folder."""

    exit_status = 2


class HostNotReady(ProbeEffectError):
    """This host cannot do it: not root, no compiler, no tracer."""

    exit_status = 3


class BadData(ProbeEffectError):
    """Files under `data/` break a rule; `problems` holds every one found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        noun = "problem" if len(self.problems) == 1 else "problems"
        super().__init__(f"{len(self.problems)} {noun} in the data")


class TooFewBlocks(ProbeEffectError):
    """An interval was asked of fewer blocks than can carry one (see `stats.estimates`)."""


def unknown(names: Iterable[str], known: Iterable[str], kind: str) -> None:
    """Raise UsageError, with the nearest of the `known` names, for the first name that is none of them."""
    known = list(known)
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
            advice = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known) or 'none'}"
            raise UsageError(f"{name}: no such {kind}; {advice}")
