"""The measured costs of each machine, one file a machine, for chapters whose reader chooses another machine."""

from collections.abc import Iterator
from functools import partial

from probe_effect.answer.entry_path import event_cost
from probe_effect.answer.evidence import Evidence, evidence
from probe_effect.exports.script_values import Values, ends, kept_of_machine, script_json
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.shown import in_order
from probe_effect.pages import addresses
from probe_effect.reduce.submission import Submission


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
