"""How long a tracer takes to attach so many probes, and to take them away again, from the suites that measured it."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from probe_effect.model import Estimate, level_order
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.reduce.submission import Number

KINDS = {"uprobe": "uprobe", "uretprobe": "uprobe", "usdt": "uprobe", "kprobe": "kprobe", "kretprobe": "kprobe"}
"""Kind of probe to the one of the case that stands for it; every other attaches as a static probe of the kernel."""

STATIC = "tracepoint"


class Starting(NamedTuple):
    """Time from starting the tracer until so many probes are live, and from asking it to stop until it has ended, ns.

    `machine`: where both were measured, at numbers of probes between which a straight line is drawn.
    """

    start: Estimate
    stop: Estimate
    machine: str


def starting(catalogue: Catalogue, machines: Sequence[str], tracer: str, kind: str, probes: int) -> Starting | None:
    """That of the first of `machines` where it was measured at two numbers of probes or more; None without any."""
    wanted = KINDS.get(kind, STATIC)
    suites = [folder.suite for folder in catalogue.suites if folder.suite.result_type.of_starts and folder.suite.factor]
    cases = [case.id for suite in suites for case in suite.cases if case.probe == wanted]
    known = [one for case in cases for one in catalogue.numbers.of_case(case) if one.tracer == tracer]
    for machine in machines:
        own = sorted(
            (one for one in known if one.submission.machine == machine and one.attach and one.detach and one.level),
            key=lambda one: level_order(one.level),
        )
        if len(own) > 1:
            return Starting(*_between(own, probes), machine)
    return None


def _between(own: Sequence[Number], probes: int) -> tuple[Estimate, Estimate]:
    """Start and stop on the line between the two nearest numbers of probes; beyond the last, that line goes on."""
    ends = list(pairwise(own))
    first, last = next((pair for pair in ends if probes <= _probes(pair[1])), ends[-1])
    share = max(0.0, (probes - _probes(first)) / max(1, _probes(last) - _probes(first)))
    return _on_line(first.attach, last.attach, share), _on_line(first.detach, last.detach, share)


def _on_line(first: Estimate | None, last: Estimate | None, share: float) -> Estimate:
    assert first is not None
    assert last is not None
    value, low, high = (
        None if one is None or other is None else max(0.0, one + share * (other - one))
        for one, other in zip(first, last, strict=True)
    )
    assert value is not None
    return Estimate(value, low, high)


def _probes(one: Number) -> int:
    """How many the tracer says it attached; else how many were asked for."""
    return one.probes if one.probes is not None else int(one.level or 0)
