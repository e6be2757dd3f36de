"""Signs that a submission was made from another: each a warning for both; two that speak against one are an error."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
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


SIGNS: tuple[Rule[Any], ...] = tuple(
    rule(name)(partial(Suspected.faults, name=name))
    for name in ("same-order", "same-start", "same-operations", "same-times", "same-noise", "same-tool-noise")
)


@rule("two-signs")
def _two_signs(suspected: Suspected) -> Iterator[Fault]:
    named = list(dict.fromkeys(suspected.signs))
    if len(named) > 1 and not suspected.is_accepted:
        found = f"{len(named)} signs that this was not measured as it says: {', '.join(named)}"
        hint = "measure it again; a maintainer who knows why it is so appends it to changes.toml with kind `accepted`"
        yield Fault("samples.csv", None, found, hint)


RULES = (*SIGNS, _two_signs)
