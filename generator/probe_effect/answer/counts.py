"""Which count of instructions stands for a case on a machine: counts are of emulated machines, which have no times."""

from __future__ import annotations

from collections import defaultdict

from probe_effect.answer.evidence import Evidence
from probe_effect.numbers import names
from probe_effect.numbers.likeness import release_distance
from probe_effect.numbers.once import once
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.suite_file import Case


def counted(found: Evidence, machine: str, tracer: str, case: Case) -> Number | None:
    """The count of a case with a tracer, or another version of it, on the kernel nearest to a machine's.

    Only one of the machine's architecture, for an instruction of another is not the same work; None for a machine
    without a cost, on which no count can become a time.
    """
    here = _newest(found, machine)
    if here is None:
        return None
    return _nearest_count(found, case.id, tracer, here.architecture, here.document.system.kernel_release)


@once
def _nearest_count(found: Evidence, case: str, tracer: str, architecture: str, release: str) -> Number | None:
    """Of the tracer rather than another version of it, then on the nearest kernel, then with most CPUs.

    Where a workload has CPU 0, as with one CPU, the kernel may do more there.
    """
    return min(
        _counts(found, case).get((names.tool_of(tracer), architecture), ()),
        key=lambda one: (
            one.tracer != tracer,
            release_distance(release, one.submission.document.system.kernel_release),
            -one.submission.document.machine.threads,
            one.id,
        ),
        default=None,
    )


@once
def _counts(found: Evidence, case: str) -> dict[tuple[str, str], list[Number]]:
    """Tool and architecture to the counts of a case."""
    made: dict[tuple[str, str], list[Number]] = defaultdict(list)
    for one in found.counts.get(case, ()):
        made[names.tool_of(one.tracer), one.submission.architecture].append(one)
    return dict(made)


@once
def _newest(found: Evidence, machine: str) -> Submission | None:
    """One of a machine's newest submissions with a cost."""
    return next((found.costs[key].submission for key in found.keys_of(machine)), None)
