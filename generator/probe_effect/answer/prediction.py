"""What a probe will do to a thread, from its cost and rate; the bands of a slowdown; how long a tracer takes to attach.

One busy thread slows by rate x cost. A thread that waits part of the time pays from its idle time first, so its work
takes longer only when that is used up; the CPU time is spent all the same. A tool that stops the program by a clock
of its own takes a share of all time, since that clock goes on meanwhile. The page's script has the same arithmetic and
bands (`site/assets/js/prediction.js`), held to it by shared examples.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from probe_effect import units
from probe_effect.costs.evidence import Evidence, PublishedCost
from probe_effect.costs.machine import number_on_hardware
from probe_effect.costs.row import CostRow
from probe_effect.model import Estimate, UsageError, level_order
from probe_effect.numbers import estimates
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.estimates import MIN_BLOCKS
from probe_effect.numbers.names import quoted
from probe_effect.numbers.submission import THRESHOLDS, Number, threshold
from probe_effect.records import beside
from probe_effect.units import GAP, NS_PER_SECOND, RATE, quantity

WORDS: dict[str, str] = beside(__file__, "words")
"""Sentences and their parts, by key, with named places."""

WORDS["no-interval"] = WORDS["no-interval"].format(blocks=MIN_BLOCKS)


@dataclass(frozen=True, slots=True)
class Band:
    """A range of slowdowns in words, such as `1 to 5 %`, and what to do in it."""

    range: str
    recommendation: str


RANGES = (
    f"below {min(THRESHOLDS)}{GAP}%",
    *(f"{low} to {high}{GAP}%" for low, high in pairwise(THRESHOLDS)),
    f"above {max(THRESHOLDS)}{GAP}%",
)
BANDS = tuple(Band(words, WORDS[f"do-in-{index}"]) for index, words in enumerate(RANGES))


def places(slowdown: Estimate) -> tuple[int, int]:
    """The index in `BANDS` of either end of a slowdown, or of its value; at a threshold, of the upper band."""
    ends = (slowdown.value if end is None else end for end in (slowdown.low, slowdown.high))
    low, high = (sum(end >= percent / 100 for percent in THRESHOLDS) for end in ends)
    return low, high


def recommendation(slowdown: Estimate) -> str:
    """What to do, in one sentence: `Below 1 %: go ahead.` Of an interval over several bands it is that of the worst."""
    low, high = places(slowdown)
    best, worst = BANDS[low], BANDS[high]
    form = WORDS["band" if best is worst else "bands"]
    sentence = form.format(best=best.range, worst=worst.range, recommendation=worst.recommendation)
    return sentence[0].upper() + sentence[1:]


def limits(cost: Estimate) -> str:
    """What to do where nobody says how often: `Up to 5.5 k/s: go ahead. Above 170 k/s: take an alternative.`

    Both ends are rates of events at which the high end of the slowdown comes to a threshold. `cost`: ns an event.
    """
    highest = Estimate(cost.value if cost.high is None else cost.high)
    first, *_, last = (threshold(highest, percent) for percent in THRESHOLDS)
    if first is None or last is None:
        return WORDS["no-limits"]
    return WORDS["limits"].format(
        go=quantity(first.value, RATE),
        stop=quantity(last.value, RATE),
        best=BANDS[0].recommendation,
        worst=BANDS[-1].recommendation,
    )


MIN_RATE_HZ = 1e-6
MAX_RATE_HZ = 1e12
MAX_THREADS = 1_000_000
MOST_STOPPED = 0.96
"""The share of time for which py-spy stops a program at most, as at 1,000 samples a second of 200 frames."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadLoad:
    """What the traced program does while nobody looks.

    `rate_hz`: events per second of elapsed time, in each thread. `busy_ratio`: the share of its time that a thread
    uses a CPU. `stops`: whether the tool stops the program by its own clock. Raises: UsageError for a value that no
    program has.
    """

    rate_hz: float
    threads: int = 1
    busy_ratio: float = 1.0
    stops: bool = False

    def __post_init__(self) -> None:
        if self.rate_hz != 0 and not MIN_RATE_HZ <= self.rate_hz <= MAX_RATE_HZ:
            msg = f"rate {self.rate_hz}: expected events per second, 0 or from {MIN_RATE_HZ:.0e} to {MAX_RATE_HZ:.0e}"
            raise UsageError(msg)
        if not 1 <= self.threads <= MAX_THREADS:
            raise UsageError(f"threads {self.threads}: expected a whole number from 1 to {MAX_THREADS}")
        if not 0 < self.busy_ratio <= 1:
            raise UsageError(f"busy share {self.busy_ratio}: expected a share above 0 and at most 1, such as 0.4")

    def used(self, cost_ns: float) -> float:
        """What events of that cost add to running time, per second of untraced time."""
        most = self.busy_ratio * MOST_STOPPED if self.stops else math.inf
        ratio = min(self.rate_hz * cost_ns / NS_PER_SECOND, most)
        return ratio / (1 - ratio / self.busy_ratio) if self.stops else ratio


@dataclass(frozen=True, slots=True)
class ProbeLoad:
    """A probe in each thread: its `cost` in ns an event, and its events per second."""

    cost: Estimate
    rate_hz: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What the probes do to the program.

    `slowdown`: added running time over untraced running time, as a ratio (0.05 = 5 % slower while it runs).
    `delay`: added elapsed time over untraced elapsed time, as a ratio: 0 while idle time can pay.
    `cpu_s_per_s`: CPU seconds that the probes use per second, over all threads: CPUs of the machine.
    `event_hz`: events per second that then happen, over all threads; `thresholds`: per cent to the rate of each thread
    at which `slowdown` reaches it, events/s, None for a cost that is not above 0.
    """

    slowdown: Estimate
    delay: Estimate
    cpu_s_per_s: Estimate
    event_hz: Estimate
    thresholds: dict[int, Estimate | None]


def predict(cost: Estimate, load: ThreadLoad) -> Prediction:
    """What probes of `cost` ns an event do under `load`; with ends where the cost has them.

    Every figure rises or falls with the cost alone, so the ends of the cost give its ends.
    """
    idle_ratio = 1 - load.busy_ratio
    used = cost.mapped(load.used)
    delay = used.mapped(lambda ratio: max(0.0, ratio - idle_ratio))
    event_hz = delay.mapped(lambda ratio: load.threads * load.rate_hz / (1 + ratio * (not load.stops)))
    return Prediction(
        slowdown=used.mapped(lambda ratio: ratio / load.busy_ratio),
        delay=delay,
        cpu_s_per_s=used.mapped(lambda ratio: load.threads * ratio / (1 + max(0.0, ratio - idle_ratio))),
        event_hz=Estimate(event_hz.value, event_hz.high, event_hz.low),  # falls where the cost rises
        thresholds={
            percent: None if rate is None else rate.times(load.busy_ratio)
            for percent in THRESHOLDS
            for rate in [threshold(cost, percent, stops=load.stops)]
        },
    )


def together(probes: Sequence[ProbeLoad]) -> ProbeLoad:
    """One probe that stands for several in a thread: the rate of all their events, and what one costs on average.

    The CPU time that they use adds, and so do its ends (`stats.estimates.total`). Without any event all weigh the same.
    """
    if len(probes) == 1:
        return probes[0]
    rate_hz = math.fsum(probe.rate_hz for probe in probes)
    shares = [probe.rate_hz / rate_hz if rate_hz else 1 / len(probes) for probe in probes]
    parts = [probe.cost.times(share) for probe, share in zip(probes, shares, strict=True)]
    return ProbeLoad(estimates.total(parts), rate_hz)


def expected_loss(event_hz: float, highest_hz: float, loss_ratio: float) -> float | None:
    """The share of events that will be lost; None where nothing was measured that tells.

    A tracer that lost events kept as many a second as it can, so at another rate it keeps as many. One that lost none
    can keep at least the highest rate measured; beyond it nobody knows. `event_hz`: what will happen, over all threads.
    """
    kept_hz = (1 - loss_ratio) * highest_hz
    if event_hz <= kept_hz:
        return 0.0
    return 1 - kept_hz / event_hz if loss_ratio > 0 else None


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
    """How long a tracer takes to start on the first of `machines` with two numbers of probes or more, or None."""
    wanted = KINDS.get(kind, STATIC)
    suites = [folder.suite for folder in catalogue.suites if folder.suite.result_type.of_starts and folder.suite.factor]
    cases = [case.id for suite in suites for case in suite.cases if case.probe == wanted]
    numbers = [number for case in cases for number in catalogue.numbers.of_case(case) if number.tracer == tracer]
    for machine in machines:
        started = (
            number
            for number in numbers
            if number.submission.machine == machine and number.event.attach and number.event.detach
        )
        own = sorted((number for number in started if number.level), key=lambda number: level_order(number.level))
        if ends := list(pairwise(own)):
            # On the line between the two nearest numbers of probes; beyond the last, that line goes on.
            first, last = next((pair for pair in ends if probes <= _probes(pair[1])), ends[-1])
            share = max(0.0, (probes - _probes(first)) / max(1, _probes(last) - _probes(first)))
            start = _on_line(first.event.attach, last.event.attach, share)
            return Starting(start, _on_line(first.event.detach, last.event.detach, share), machine)
    return None


def _on_line(first: Estimate | None, last: Estimate | None, share: float) -> Estimate:
    assert first is not None
    assert last is not None
    value, low, high = (
        None if figure is None or other is None else max(0.0, figure + share * (other - figure))
        for figure, other in zip(first, last, strict=True)
    )
    assert value is not None
    return Estimate(value, low, high)


def _probes(number: Number) -> int:
    return number.event.probes if number.event.probes is not None else int(number.level or 0)


def sentences(evidence: Evidence, numbers: Iterable[Number]) -> list[str]:
    """`said` for each case of measured numbers that others measured without a hypervisor."""
    pairs = dict.fromkeys((quoted(number.title), number_on_hardware(evidence, number)) for number in numbers)
    return [said(called, published_cost) for called, published_cost in pairs if published_cost]


def said(called: str, published_cost: PublishedCost) -> str:
    """That a cost includes an exit from the guest, and what others measured without a hypervisor.

    KVM handles every debug exception of a guest (`init_vmcb`, arch/x86/kvm/svm/svm.c; `vmx_update_exception_bitmap`,
    arch/x86/kvm/vmx/vmx.c), and a stepped instruction raises one: the CPU leaves the guest. A breakpoint stays in the
    guest unless the host debugs it, so an emulated instruction costs no exit.
    """
    return WORDS["hardware"].format(what=called, one=published_cost)


def note_of(row: CostRow) -> str | None:
    """What was assumed of a cost, and what it is without a hypervisor."""
    beyond = said("this probe", row.hardware) if row.hardware else None
    return " ".join(filter(None, [row.note, beyond])) or None


def row(published_cost: PublishedCost, load: ThreadLoad) -> tuple[str, str]:
    """A line of figures: the slowdown of a thread without a hypervisor, and the cost of an event."""
    values = {"slowdown": units.percent(predict(published_cost.cost, load).slowdown.value), "cost": published_cost.text}
    return WORDS["hardware-row"], WORDS["hardware-figures"].format(**values)
