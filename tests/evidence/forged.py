"""Copies of committed submissions, changed as somebody would who wants them to pass for measurements.

They are for `evidence.forgery` and its tests and never lie below `data/`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from evidence.honest import NOISY, TIMES, Given, committed, elsewhere, in_order, key, resampled, stepped
from evidence.made_machines import machines
from probe_effect.store.machine_file import MOMENT_FORM

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from probe_effect.model import Key, Sample

JITTER = 0.005
"""Standard deviation of the natural logarithm of a time's own factor."""

NOT_REAL = "Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz"


def _named(given: Given) -> Given:
    """Under another CPU's name, and nothing else."""
    machine = given.document.machine.model_copy(
        update={"id": "intel-xeon-gold-6338-2t-kvm-0000", "cpu_model": NOT_REAL}
    )
    return replace(given, document=given.document.model_copy(update={"machine": machine}), name="made")


def _disguised(given: Given, random: np.random.Generator) -> Given:
    """By somebody who thinks of it: facts, seed, order, day and the steps of clocks are as they should be."""
    rows = tuple(
        _changed(row, {name: stepped(name, value) for name in NOISY if (value := getattr(row, name))})
        for row in given.rows
    )
    began = datetime(2027, 3, 1, tzinfo=UTC) + timedelta(seconds=int(random.integers(10**7)))
    document = elsewhere(given.document, next(machines(0)), began, rows)
    machine = document.machine.model_copy(update={"cpu_model": NOT_REAL})
    return in_order(Given(document.model_copy(update={"machine": machine}), rows), int(random.integers(2**32)))


def _changed(row: Sample, values: dict[str, Any]) -> Sample:
    return replace(row, **values)


def _each(given: Given, change: Callable[[Sample, str, int], float], names: Sequence[str] = TIMES) -> Given:
    """Every time changed."""
    rows = (
        _changed(row, {name: round(change(row, name, value)) for name in names if (value := getattr(row, name))})
        for row in given.rows
    )
    return replace(given, rows=tuple(rows))


def _jittered(given: Given, random: np.random.Generator) -> Given:
    return _each(given, lambda _row, _name, value: value * random.lognormal(0, JITTER), NOISY)


def _by_case(given: Given, random: np.random.Generator) -> Given:
    factors: dict[Key, float] = defaultdict(lambda: float(random.lognormal(0, 0.05)))
    return _each(given, lambda row, _name, value: value * factors[key(row)])


def _scaled(given: Given, factor: float = 1.3) -> Given:
    return _each(given, lambda _row, _name, value: value * factor)


def _shuffled(given: Given, random: np.random.Generator) -> Given:
    """The rows of each block in another order."""
    rows: list[Sample] = []
    for block in range(given.document.run.blocks):
        some = [row for row in given.rows if row.block == block]
        rows += [replace(some[place], position=at) for at, place in enumerate(random.permutation(len(some)))]
    return replace(given, rows=tuple(rows))


def _blocks_permuted(given: Given, random: np.random.Generator) -> Given:
    """The times of each block those of another; what stands in the first block only stays."""
    places = random.permutation(given.document.run.blocks)
    return _times_from(given, lambda _, block: int(places[block]))


def _cases_permuted(given: Given, random: np.random.Generator) -> Given:
    """The times of each case in an order of their own."""
    blocks = given.document.run.blocks
    places: dict[Key, NDArray[np.int64]] = defaultdict(lambda: random.permutation(blocks))
    return _times_from(given, lambda key, block: int(places[key][block]))


def _times_from(given: Given, place: Callable[[Key, int], int]) -> Given:
    some: dict[tuple[Key, int], list[Sample]] = defaultdict(list)
    for row in given.rows:
        if row.status == "ok" and row.arm != "check":
            some[key(row), row.block].append(row)
    rows = []
    for row in given.rows:
        there = some.get((key(row), place(key(row), row.block)), [])
        same = some.get((key(row), row.block), [])
        if row in same and len(there) == len(same):
            other = there[same.index(row)]
            rows.append(replace(other, block=row.block, position=row.position))
        else:
            rows.append(row)
    return replace(given, rows=tuple(rows))


def _partly(given: Given, other: Given, share: float) -> Given:
    """Of the first share of the cases, or of one, the times of `given`; of the others those of `other`."""
    keys = sorted({key(row) for row in given.rows if not key(row).is_baseline}, key=lambda key: key.order)
    taken = set(keys[: max(1, round(share * len(keys)))])
    beside: dict[tuple[Key, int, str], list[Sample]] = defaultdict(list)
    for row in other.rows:
        beside[key(row), row.block, row.arm].append(row)
    rows = []
    for row in given.rows:
        some = beside[key(row), row.block, row.arm]
        rows.append(
            row if key(row) in taken or not some else replace(some.pop(0), block=row.block, position=row.position)
        )
    return replace(given, rows=tuple(rows))


def _improved(given: Given) -> Given:
    """One tracer's runs shorter by a tenth."""
    tracer = next(row.tracer for row in given.rows if row.arm == "traced" and row.status == "ok")
    return _each(given, lambda row, _name, value: value * (0.9 if row.tracer == tracer else 1.0), ("wall_ns",))


def _run(given: Given, **changes: object) -> Given:
    return replace(
        given, document=given.document.model_copy(update={"run": given.document.run.model_copy(update=changes)})
    )


def _moved(given: Given) -> Given:
    """A hundred days later."""
    moments = {
        name: (
            datetime.strptime(getattr(given.document.run, name), MOMENT_FORM).replace(tzinfo=UTC) + timedelta(days=100)
        ).strftime(MOMENT_FORM)
        for name in ("started", "ended")
    }
    return _run(given, **moments)


def _invented(given: Given, random: np.random.Generator) -> Given:
    return replace(given, rows=resampled(given, 1.2, random))


FORGERIES: dict[str, Callable[[Given, Given, np.random.Generator], Given]] = {
    "an exact copy under another CPU's name": lambda own, _, __: _named(own),
    "times jittered by 0.5 %, row by row": lambda own, _, random: _named(_jittered(own, random)),
    "times multiplied by a factor of each case's own": lambda own, _, random: _named(_by_case(own, random)),
    "all times multiplied by 1.3": lambda own, _, __: _named(_scaled(own)),
    "multiplied and jittered": lambda own, _, random: _named(_jittered(_scaled(own), random)),
    "rows of each block shuffled": lambda own, _, random: _named(_shuffled(own, random)),
    "another seed, the same order": lambda own, _, __: _named(_run(own, seed=own.document.run.seed + 1)),
    "wall times rounded to microseconds": lambda own, _, __: _named(
        _each(own, lambda _row, _name, value: round(value / 1000) * 1000, ("wall_ns", "attach_ns", "detach_ns"))
    ),
    "a hundred days later": lambda own, _, __: _named(_moved(own)),
    "one tracer's runs shorter by a tenth": lambda own, _, __: _named(_improved(own)),
    "disguised, the noise block by block": lambda own, _, random: _disguised(_jittered(own, random), random),
    "disguised, multiplied by 1.3 and jittered": lambda own, _, random: _disguised(
        _jittered(_scaled(own), random), random
    ),
    "disguised, the blocks in another order": lambda own, _, random: _disguised(
        _blocks_permuted(_jittered(own, random), random), random
    ),
    "disguised, half of the cases copied": lambda own, _, random: _disguised(
        _jittered(_partly(own, _invented(own, random), 0.5), random), random
    ),
    "disguised, a mixture of two machines": lambda own, other, random: _disguised(
        _jittered(_partly(own, other, 0.5), random), random
    ),
    "disguised, one case copied": lambda own, _, random: _disguised(
        _jittered(_partly(own, _invented(own, random), 0.0), random), random
    ),
    "disguised, the times of each case shuffled": lambda own, _, random: _disguised(
        _cases_permuted(_jittered(own, random), random), random
    ),
    "disguised, all noise and trials drawn again": lambda own, _, random: _disguised(_invented(own, random), random),
}
"""What is done to a committed submission (a second one of its suite beside it), by its name."""


def other_of_suite(own: Given) -> Given:
    """A committed submission of the same suite; itself where there is none."""
    some = [one for one in committed() if one.document.run.suite == own.document.run.suite and one.name != own.name]
    return some[0] if some else own
