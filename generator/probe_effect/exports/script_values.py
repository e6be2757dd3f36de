"""What scripts of pages get of numbers and machines, as JSON that is as small as it can be."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

from probe_effect.answer.added import event_cost
from probe_effect.answer.evidence import Evidence, evidence
from probe_effect.compare.subjects import MeasuredMachine, offered
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.citation import Edition, Subject, cite
from probe_effect.numbers.names import tier
from probe_effect.numbers.shown import in_order
from probe_effect.pages import addresses
from probe_effect.pages.markdown import page_code
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.kept import NOWHERE, code_version

Values = dict[str, Any]
"""An object of JSON."""

DIGITS = 7
"""The digits of each number: more than any interval supports, so that it is written as on every other page."""

CITED_TITLE, CITED_ADDRESS = "@title@", "@address@"
"""The places that the page fills in a citation of the reader's view."""


def script_json(found: object) -> str:
    """The text of a file."""
    return json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def kept_of_machine(
    what: str, catalogue: Catalogue, runs: Sequence[Submission], make: Callable[[], Any], *others: str
) -> Any:  # noqa: ANN401 (JSON)
    """What `make` makes of runs of one machine and `others`, as JSON has it; kept while these, suites and code stay."""
    made_from = [*(f"{one.id} {one.digest}" for one in runs), *others]
    code = f"{page_code()} {code_version('answer', 'scripts', 'exports')}"
    kept = catalogue.kept if all(one.digest for one in runs) else NOWHERE
    return json.loads(kept.made(lambda: script_json(make()).encode(), what, code, catalogue.suites_digest, *made_from))


def ends(found: Estimate | None, digits: int = DIGITS) -> list[float | None] | None:
    """A value with its ends."""
    return None if found is None else [short(end, digits) for end in found]


def short(value: float | None, digits: int = DIGITS) -> float | None:
    """A number with so many digits, by default as many as scripts get."""
    return None if value is None else float(f"{value:.{digits}g}")


def number_values(one: Number) -> Values:
    """The values of a number for `/explore/` and `/compare/`; in ns per event, or instructions per event."""
    return {
        "case": one.case,
        "level": one.level,
        "cost": ends(one.cost),
        "href": addresses.number(one, "cost" if one.is_time else "instructions"),
    }


def machine_values(one: MeasuredMachine) -> Values:
    """The values of a machine for these pages: its short name, its page, its tracers."""
    newest = one.submissions[0]
    return {
        "id": one.name,
        "metric": one.metric,
        "label": one.label,
        "tier": tier(newest.document.machine, one.metric),
        "href": addresses.machine_of(newest),
        "tracers": list(one.tools.items()),
    }


def choice(machines: Sequence[MeasuredMachine], catalogue: Catalogue) -> Values:
    """The machines that a form offers, and of how many."""
    return {"machines": [machine_values(one) for one in offered(machines, catalogue)], "all": len(machines)}


def view_citation(path: Literal["explore", "compare"], edition: Edition) -> dict[str, str]:
    """A citation of one view of a page, with places for its title and its whole address."""
    made = cite(Subject(path, CITED_TITLE, CITED_ADDRESS), Edition(edition.version, ""))
    return {"text": made.text, "bibtex": made.bibtex}


def guidance_files(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """File name below `/data/` and its JSON."""
    found = evidence(catalogue)
    runs = catalogue.numbers.machines()
    newest = {one.machine: one for one in reversed(in_order(catalogue.numbers))}
    for machine, one in newest.items():
        make = partial(_machine, found, one)
        values = kept_of_machine("guidance", catalogue, [one, *runs[machine]], make)
        yield f"guidance/{machine}.json", script_json(values)


def _machine(found: Evidence, newest: Submission) -> Values:
    """A machine in words, and what an event costs there by tracer and case, ns with its ends."""
    return {
        "where": names.machine_name(newest),
        "href": addresses.machine(newest.machine),
        "costs": [
            {
                "tracer": tracer,
                "case": case,
                "basis": "measured",
                "cost": ends(event_cost(found, (newest.machine, tracer, case), one.bounded_cost)[0]),
                "clear": one.is_clear,
                "date": names.date_words(one.submission.date),
            }
            for tracer, cases in found.by_tracer(newest.machine).items()
            for case, one in cases.items()
        ],
    }
