"""How often the signs of forged data speak against honest submissions, and which forged ones they find.

Usage: PYTHONPATH=tests .venv/bin/python -m evidence.forgery [--number N] [--write] (into the method).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import chain, islice
from typing import TYPE_CHECKING

import click
import numpy as np

from evidence.forged import FORGERIES, other_of_suite
from evidence.honest import DATA, SEED, Given, committed, honest, suites
from evidence.method_tables import write as write_tables
from probe_effect.checks import copies, machine_facts
from probe_effect.checks.copies import Traces, traces_of
from probe_effect.checks.rule import CheckedSubmission
from probe_effect.checks.run import SIGNS
from probe_effect.store.places import SubmissionFolder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def traces(given: Given) -> Traces:
    """As `check` has it."""
    return traces_of(given.document, given.rows)


def signs_of(given: Given, others: Iterable[Traces]) -> set[str]:
    """Every sign that it was not measured, of its own files and beside others of its suite."""
    files = SubmissionFolder(DATA.results / committed()[0].name)  # where a line is looked up, which nobody reads
    checked = CheckedSubmission(files, given.document, given.rows, given.suite)
    own = {
        SIGNS[one.id]
        for one in machine_facts.RULES
        for fault in one.check(checked)
        if (fault.severity or one.severity) == "warning"
    }
    beside = [one for one in others if one.document.run.suite == given.document.run.suite]
    found = copies.possible([*beside, traces(given)], {len(beside)}, given.suite)
    return own | {sign.rule for sign in copies.sure(found)}


def of_committed() -> tuple[int, Counter[str], list[float]]:
    """(pairs of one suite, signs found in any, deviations of their noise)."""
    by_suite: dict[str, list[Traces]] = defaultdict(list)
    for given in committed():
        by_suite[given.document.run.suite].append(traces(given))
    found: Counter[str] = Counter()
    deviations, pairs = [], 0
    for suite, some in by_suite.items():
        pairs += math.comb(len(some), 2)
        found.update(sign.rule for sign in copies.sure(copies.possible(some, range(len(some)), suites()[suite])))
        for place, one in enumerate(some):
            shared = chain.from_iterable(copies.shared_noises(one, some[:place]))
            deviations += [both.deviation for both in shared if both is not None]
    return pairs, found, deviations


def of_honest(number: int) -> Iterator[set[str]]:
    """The signs against each of so many honest submissions, beside all committed and all made before it."""
    known = [traces(one) for one in committed()]
    for visit in islice(honest(), number):
        made = visit.given()
        yield signs_of(made, known)
        known.append(traces(made))


def of_forged() -> Iterator[tuple[str, list[set[str]]]]:
    """Each forgery, and the signs against it made of each committed submission that has enough rows."""
    known = [traces(one) for one in committed()]
    for name, forge in FORGERIES.items():
        random = np.random.default_rng(SEED)
        made = [forge(one, other_of_suite(one), random) for one in committed()]
        yield name, [signs_of(one, known) for one in made]


def tables(number: int) -> Iterator[str]:
    """What the method says of it, in Markdown."""
    pairs, found, deviations = of_committed()
    yield f"Of {pairs} pairs of committed submissions of one suite, {sum(found.values())} have a sign."
    yield f"The greatest deviation of their noise is {max(deviations):.1f} standard deviations."
    against = list(of_honest(number))
    one, two = (sum(len(some) >= least for some in against) for least in (1, 2))
    beside = "each beside all committed ones and all simulated before it"
    yield f"Of {number:,} simulated honest submissions, {beside}, {one} have a sign and {two} have two."
    if one:
        by = Counter(sign for some in against for sign in some)
        yield f"The signs are {', '.join(f'{sign} ({times})' for sign, times in sorted(by.items()))}."
    yield ""
    yield "| Forged | Refused | One sign | Not seen | By |"
    yield "|:--|--:|--:|--:|:--|"
    for name, some in of_forged():
        counts = Counter(min(2, len(signs)) for signs in some)
        by = Counter(sign for signs in some for sign in signs)
        words = ", ".join(f"{sign} ({by[sign]})" for sign in sorted(by, key=lambda sign: (-by[sign], sign)))
        yield f"| {name} | {counts[2]} | {counts[1]} | {counts[0]} | {words or 'nothing'} |"


@click.command()
@click.option("--number", default=1000, show_default=True, help="Honest submissions.")
@click.option("--write", is_flag=True, help="Put the tables into the method.")
def main(*, number: int, write: bool) -> None:
    """Print how often honest submissions are suspected, and which forged ones are found."""
    text = "\n".join(tables(number))
    print(text)
    if write:
        write_tables("forgery", text)


if __name__ == "__main__":
    main()
