"""What is known of the cause of a change between two counts, from `data/explanations.toml`."""

from collections.abc import Iterable

from probe_effect.compare.comparison import Comparison
from probe_effect.compare.kernels import between_kernels, between_versions, column_of, matrices
from probe_effect.errors import BadData
from probe_effect.model import Problem
from probe_effect.numbers.catalogue import read_numbers
from probe_effect.numbers.names import tool_of
from probe_effect.reduce.submission import Number
from probe_effect.store.explanations_file import Explanation, read_explanations
from probe_effect.store.places import DataFolder

UNSEEN = "explanation-seen"
"""The rule of these warnings, which is not among those of `checks`: they know nothing of comparisons."""


def explanation_of(found: Comparison, known: Iterable[Explanation]) -> Explanation | None:
    """Why a count on another kernel or of another version is more or fewer; None where it is not, or nobody knows."""
    return next((one for one in known if _explains(one, found)), None)


def unseen_changes(data: DataFolder) -> list[Problem]:
    """A warning for each explanation of a change that no two counts show any more; none where data cannot be read."""
    known, _ = read_explanations(data)
    if not known:
        return []
    try:
        found = matrices(read_numbers(data))
    except BadData:  # which `check` tells anyway
        return []
    changes = [one for each in found for one in (*between_kernels(each), *between_versions(each))]
    file, hint = data.relative(data.root / "explanations.toml"), "mend its cases and versions, or remove it"
    return [
        Problem("warning", file, None, None, UNSEEN, f"`{one.id}` explains a change that no counts show", hint)
        for one in known
        if not any(_explains(one, change) for change in changes)
    ]


def _explains(one: Explanation, found: Comparison) -> bool:
    first, second = found.first, found.second
    return (
        found.is_clear
        and second.case in one.cases
        and (not one.tools or tool_of(second.tracer) in one.tools)
        and (not one.architectures or second.submission.architecture in one.architectures)
        and one.change == ("more" if found.outcome == "higher" else "fewer")
        and one.lies_between(_version(first, one), _version(second, one))
    )


def _version(side: Number, one: Explanation) -> str:
    return column_of(side).kernel if one.of == "kernel" else side.tool_version or ""
