"""Why counts changed, and claims: of cases and tools that there are, and with places where it can be checked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from probe_effect.checks.rule import Fault, rule
from probe_effect.store.claims_file import Claim
from probe_effect.store.documents import value_line
from probe_effect.store.explanations_file import Explanation, Reference
from probe_effect.store.suite_file import Suite
from probe_effect.tools.record import TOOLS


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
            yield Fault(checked.file.name, line, found, "mend the name, or add what it names")


RULES = (_names,)
"""Runs over all explanations, and over all claims."""
