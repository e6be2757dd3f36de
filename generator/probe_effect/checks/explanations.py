"""Why counts changed: of cases that there are, and with places where it can be checked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from probe_effect.checks.rule import Fault, rule
from probe_effect.store.explanations_file import Explanation
from probe_effect.store.suite_file import Suite


@dataclass(frozen=True, slots=True)
class CheckedExplanations:
    """All explanations, the suites, and the ids of all references."""

    known: Sequence[Explanation]
    suites: Mapping[str, Suite]
    references: frozenset[str]


@rule(
    "explanation-names",
    "An explanation names cases of suites, and references that are in `references.toml`.",
    good='cases = ["19-fentry"]',
    bad="a reference that nobody wrote",
)
def _names(checked: CheckedExplanations) -> Iterator[Fault]:
    cases = {case.id for suite in checked.suites.values() for case in suite.cases}
    for one in checked.known:
        if unknown := (set(one.cases) - cases) | (set(one.references) - checked.references):
            found = f"`{one.id}` names what is not there: {', '.join(sorted(unknown))}"
            yield Fault("explanations.toml", None, found, "mend the name, or add what it names")


RULES = (_names,)
"""Runs over all explanations."""
