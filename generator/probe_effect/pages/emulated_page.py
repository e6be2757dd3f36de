"""A page per emulated machine: what it is made of, and every instruction that was counted in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.guidance.instruction_change import Counted
from probe_effect.pages import instructions, wording
from probe_effect.pages.machine_page import by_reason, by_value, facts
from probe_effect.pages.markdown import page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probe_effect.guidance.catalogue import Catalogue, CountedSubmission


def write(submissions: Sequence[CountedSubmission], catalogue: Catalogue, place: int) -> str:
    """The page of the machine of `submissions`, which are newest first; `place` is its own among the machines."""
    newest = submissions[0].document
    name = instructions.machine_name(newest)
    front = {
        "title": name,
        "kind": "machine",
        "kicker": wording.tier(newest),
        "description": f"Instructions that one traced event takes on {name}.",
        "weight": place,
    }
    return page(
        "emulated.md.j2",
        front,
        submissions=submissions,
        parts=parts(submissions),
        facts=facts(newest),
        kernel_options=by_value(newest.system.kernel_config),
        vulnerabilities=by_value(newest.system.vulnerabilities),
        skipped=skipped_cases,
        tracer=lambda submission, case: instructions.tracer(Counted(submission, case)),
        titles=catalogue.titles(),
        instructions=instructions,
    )


def parts(submissions: Iterable[CountedSubmission]) -> dict[str, list[str]]:
    """What the machine was made of, to the packages that it came from; several where its runs had others."""
    found: dict[str, list[str]] = {}
    for submission in submissions:
        for part, package in submission.document.run.packages.items():
            packages = found.setdefault(part, [])
            if package not in packages:
                packages.append(package)
    return found


def skipped_cases(submission: CountedSubmission) -> dict[str, list[str]]:
    """Reason to the cases that it kept from being counted."""
    return by_reason(case for case in submission.summary.cases if case.cost_instructions is None)
