"""All rules by what they look at, and which of them are signs that data were not measured."""

from typing import Any

from probe_effect.checks import (
    beside,
    changes,
    copies,
    folders,
    machine_facts,
    plan_complete,
    plausible_costs,
    rows,
    signs,
    sources,
)
from probe_effect.checks.rule import CheckedSubmission, Rule

FACTS = ("machine-facts", "kernel-facts", "virtual-facts", "maker-facts")
"""Of one fact often follow others: together they are one sign."""

SIGNS = {
    **{rule.id: rule.id for rule in (*signs.RULES, *copies.SIGNS)},
    **dict.fromkeys(FACTS, "facts that do not fit each other"),
}
"""Rule to the sign that it is of; no sign follows from another."""

SUBMISSION_RULES: tuple[Rule[CheckedSubmission], ...] = (
    folders.submission_name,
    *rows.RULES,
    *rows.TABLE_RULES,
    *plan_complete.DATE_RULES,
    *machine_facts.RULES,
    *signs.RULES,
)

ALL_RULES: dict[str, tuple[Rule[Any], ...]] = {
    "a submission": (
        *folders.OF_SUBMISSION,
        folders.run_size,
        *(rule for rule in SUBMISSION_RULES if rule not in signs.RULES),
        *copies.DUPLICATE_RULES,
        *plan_complete.RULES,
        *plausible_costs.RULES,
        *machine_facts.SAME_RULES,
    ),
    "signs that a submission was not measured": (*signs.RULES, *copies.COPIED_RULES),
    "a published source": (*folders.OF_SOURCE, sources.source_size, *sources.RULES),
    "a suite": folders.RULES,
    "the files of a data folder": folders.DATA_RULES,
    "the change log": changes.RULES,
    "a release": changes.RELEASE_RULES,
    "a package of standard tools": beside.TOOL_RULES,
    "the transcripts": beside.TRANSCRIPT_RULES,
    "the explanations": beside.EXPLANATION_RULES,
    "a change of the data": changes.DIFFERENCE_RULES,
}
"""What each rule is of, as the dictionary has them."""
