"""A case's id says which case it is, without its suite: pages, figures and commands name it so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSuite, Fault, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator


def _faults(checked: CheckedSuite) -> Iterator[Fault]:
    seen: set[str] = set()
    for case in checked.suite.cases:
        if case.id in seen:
            yield Fault("suite.toml", None, f"case `{case.id}` stands twice", "give each case an id of its own")
        seen.add(case.id)
    for other in checked.known.values():
        if other.id != checked.suite.id:
            for case in other.cases:
                if case.id in seen:
                    found = f"case `{case.id}` is in suite `{other.id}` too"
                    yield Fault("suite.toml", None, found, "give it an id of its own, as in 01-usdt-control")


RULE = Rule(
    "unique-cases",
    "No two cases have the same id, in whatever suites.",
    _faults,
    good="`01-control` here and `01-usdt-control` in another suite",
    bad="`01-control` in both",
)
