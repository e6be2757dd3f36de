"""Signs that a submission was made from another: each a warning for both; two that speak against one are an error."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probe_effect.checks.rule import Fault, Rule, rule


@dataclass(frozen=True, slots=True)
class Suspected:
    """A submission, and what was found of it."""

    found: Sequence[tuple[str, str]]
    """(rule, what it has in common with another submission)."""
    signs: Sequence[str]
    """Rules of all signs, its own files' too."""
    is_accepted: bool
    """Whether the change log says that it was measured all the same."""

    def faults(self, name: str) -> Iterator[Fault]:
        """One fault for each sign that the rule `name` found."""
        hint = "submit each run once, as it was measured; say in the pull request how both were made"
        yield from (Fault("samples.csv", None, words, hint, "warning") for found, words in self.found if found == name)


def _sign(*, name: str, text: str, good: str, bad: str) -> Rule[Suspected]:
    """A rule `name` whose faults are the signs that the comparison of submissions found under that name."""
    return Rule(name, text, lambda suspected: suspected.faults(name), good, bad)


SIGNS: tuple[Rule[Any], ...] = tuple(
    _sign(**told) for told in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["sign"]
)


@rule(
    "two-signs",
    "No two signs say that a submission was not measured as it says, unless the change log accepts it.",
    good="the seed of another submission, and nothing else of it",
    bad="the seed and the noise of another submission",
)
def _two_signs(suspected: Suspected) -> Iterator[Fault]:
    named = list(dict.fromkeys(suspected.signs))
    if len(named) > 1 and not suspected.is_accepted:
        found = f"{len(named)} signs that this was not measured as it says: {', '.join(named)}"
        hint = "measure it again; a maintainer who knows why it is so appends it to changes.toml with kind `accepted`"
        yield Fault("samples.csv", None, found, hint)


RULES = (*SIGNS, _two_signs)
