"""A page per emulated machine: what it is made of, its counts by event, and the way to all that was counted in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.numbers import names
from probe_effect.numbers.home import FIRST_SUITE
from probe_effect.pages import citing, instructions, wording
from probe_effect.pages.machine_page import by_value, facts
from probe_effect.pages.markdown import page
from probe_effect.pages.results import with_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.reduce.submission import Submission


def write(submissions: Sequence[Submission], catalogue: Catalogue, place: int) -> str:
    """The page of the machine of `submissions`, which are newest first; `place` is its own among the machines."""
    newest = submissions[0].document
    shown = representative(submissions)
    name = names.machine_title(newest)
    front = {
        "title": name,
        "kind": "machine",
        "kicker": wording.tier(newest),
        "description": f"Instructions that one traced event takes on {name}.",
        "weight": place,
        **citing.machine(newest, catalogue),
    }
    return page(
        "emulated.md.j2",
        front,
        submissions=submissions,
        parts=parts(submissions),
        facts=facts(newest),
        kernel_options=by_value(newest.system.kernel_config),
        vulnerabilities=by_value(newest.system.vulnerabilities),
        shown=shown,
        cases=with_numbers(shown),
        tracer=instructions.tracer,
        titles=catalogue.titles,
        instructions=instructions,
    )


def representative(submissions: Sequence[Submission]) -> Submission:
    """Of submissions, newest first, the one to show: of the first suite, and with most counts."""
    return min(submissions, key=lambda one: (one.suite != FIRST_SUITE, -len(with_numbers(one))))


def parts(submissions: Iterable[Submission]) -> dict[str, list[str]]:
    """What the machine was made of, to the packages that it came from; several where its runs had others."""
    found: dict[str, list[str]] = {}
    for submission in submissions:
        for part, package in submission.document.run.packages.items():
            packages = found.setdefault(part, [])
            if package not in packages:
                packages.append(package)
    return found
