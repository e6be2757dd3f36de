"""Which machines a page shows, however many there are: the home machine, the best graded of each kind, the newest.

A kind is what times depend on most and readers look for: the tier, the instruction set and the family of the CPU.
"""

from collections.abc import Iterable, Mapping, Sequence

from probe_effect.numbers.grouping import grouped_by
from probe_effect.numbers.home import home_machine
from probe_effect.numbers.index import Numbers
from probe_effect.numbers.likeness import Facts, facts_of_submission
from probe_effect.numbers.names import cpu_family
from probe_effect.reduce.submission import Number, Submission

MOST_MACHINES = 12
"""On one page: as many as a table can hold that somebody still reads from end to end."""


def shown_machines(numbers: Numbers, most: int = MOST_MACHINES) -> list[str]:
    """Of all machines whose times were measured, those that a page shows."""
    return select(numbers.machines(), home_machine(numbers), most)


def shown(found: Sequence[Number], numbers: Numbers, most: int = MOST_MACHINES) -> tuple[list[Number], int]:
    """Of numbers of one case those that its page shows, machine by machine, and how many machines it excludes."""
    machines = grouped_by((one.submission for one in found), lambda one: one.machine)
    chosen = set(select(machines, home_machine(numbers), most))
    return [one for one in found if one.submission.machine in chosen], len(machines) - len(chosen)


def select(machines: Mapping[str, Iterable[Submission]], home: str | None, most: int = MOST_MACHINES) -> list[str]:
    """Up to `most` machines: `home`, then the best graded of each kind, then of the rest the best graded.

    Of equals the one that ran last comes first.
    """
    if len(machines) <= most:
        return sorted(machines, key=lambda machine: machine != home)
    best = {machine: _best(submissions) for machine, submissions in machines.items()}
    ordered = sorted(best, key=lambda machine: best[machine].started, reverse=True)
    ordered.sort(key=lambda machine: (machine != home, best[machine].grade or ""))
    first_of_kind = {machine_kind(best[machine]): machine for machine in reversed(ordered)}
    firsts = set(first_of_kind.values())
    return sorted(ordered, key=lambda machine: (machine != home, machine not in firsts))[:most]


def _best(submissions: Iterable[Submission]) -> Submission:
    newest_first = sorted(submissions, key=lambda one: one.started, reverse=True)
    return min(newest_first, key=lambda one: one.grade or "")


def machine_kind(one: Submission) -> tuple[str, str, str]:
    """What makes the machine of a submission one of a kind."""
    return kind_of(facts_of_submission(one))


def kind_of(facts: Facts) -> tuple[str, str, str]:
    """Tier, architecture and CPU family of a machine."""
    return facts.tier, facts.architecture, cpu_family(facts.cpu_model or "")


def one_of_each(numbers: Numbers, most: int) -> list[str]:
    """The home machine, and one of each other kind; of many kinds only `most`."""
    kinds = {machine_kind(submissions[0]) for submissions in numbers.machines().values()}
    return select(numbers.machines(), home_machine(numbers), min(len(kinds), most))
