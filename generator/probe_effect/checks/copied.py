"""Signs that a submission was made from another: each a warning for both; two that speak against one are an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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


def _sign(name: str, text: str, *, good: str, bad: str) -> Rule[Suspected]:
    """A rule `name` whose faults are the signs that the comparison of submissions found under that name."""
    return Rule(name, text, lambda suspected: suspected.faults(name), good, bad)


SIGNS = (
    _sign(
        "same-order",
        "No two submissions of a suite have the same seed, or their runs in the same order.",
        good="a run without `--seed`, which then draws one",
        bad="the seed of a published submission",
    ),
    _sign(
        "same-start",
        "No two submissions of a suite began in the same second.",
        good="started 05:19:10, and another 05:34:40",
        bad="the start of a published submission",
    ),
    _sign(
        "same-operations",
        "Trials on another CPU find other numbers of operations.",
        good="a third of the cases with the same number, by chance",
        bad="all of them, under another CPU's name",
    ),
    _sign(
        "same-times",
        "No single time comes again to the nanosecond, in whatever row.",
        good="1 of 1,900 times is in another submission too",
        bad="30 of 1,900 do",
    ),
    _sign(
        "same-noise",
        "The noise of the workload's times is a run's own: block by block, case by case, and block beside block.",
        good="a correlation of 0.05 with another submission's",
        bad="one of 0.9, or of 0.3 over many values",
    ),
    _sign(
        "same-tool-noise",
        "So is the noise of what the tracers took: to start, to stop, of CPU time and of memory.",
        good="a correlation of 0.05 with another submission's",
        bad="one of 0.9",
    ),
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
