"""What one sample costs at a depth of the stack: a line over the frames that are walked, and what it leaves over."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from probe_effect import units
from probe_effect.costs.added import at_levels
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.row import NOTES, SAMPLED, CostRow
from probe_effect.model import Estimate
from probe_effect.numbers.index import once
from probe_effect.numbers.names import tool_of
from probe_effect.reduce.submission import Number
from probe_effect.stats import estimates
from probe_effect.stats.trends import StraightLine, straight_line

FRAMES = "frames"
"""The factor of a suite that varies how deep the stack is that a sample finds."""

WALKED = 127
"""Frames that the kernel walks at most: the default of kernel.perf_event_max_stack (PERF_MAX_STACK_DEPTH in
include/uapi/linux/perf_event.h). A user's stack and the kernel's share them."""

WATCHES_PROCESSES = "perf-record"
"""The tool whose timer may belong to a process, and is then stopped and started at each of its context switches."""


STOPS = "py-spy"
"""The tool that stops the program while it reads a stack, which is wall time. What a sample took is in cases of the
suite `language-profilers`, of 1,000 samples a second, where it is surest, and of 100 without a stop. Where nobody says
how deep the stack is, it is as deep as in the loop of the suite `sampling`."""
STOPPED, NOT_STOPPED, USUAL_FRAMES = "02-stopped-often", "03-not-stopped", 30
READINGS = ("record-stack", "record-stack-once", "record-stack-native", "record-stack-running")


@dataclass(frozen=True, slots=True)
class SampleLaw:
    """The cost of a sample, ns, as `line` over the frames walked, and as measured at each depth.

    `sizes`: what the tool writes for a sample at each depth, bytes; None where it writes none.
    """

    line: StraightLine
    measured: Mapping[int, Estimate]
    sizes: Mapping[int, float | None]

    def at(self, frames: int) -> Estimate:
        """The cost of a sample of a stack of `frames` frames, ns."""
        return self.line.at(min(frames, WALKED))

    def frames(self, size_bytes: float | None) -> int | None:
        """The depth of stacks whose samples take so many bytes; None where sizes do not tell depths."""
        sizes = [size for size in self.sizes.values() if size is not None]
        if size_bytes is None or len(sizes) < len(self.sizes) or not np.all(np.diff(sizes) > 1):
            return None
        return round(float(np.interp(size_bytes, sizes, [min(frames, WALKED) for frames in self.sizes])))

    @property
    def residuals(self) -> dict[int, float]:
        """Depth to measured less fitted, over fitted, as a ratio."""
        return {frames: one.value / self.at(frames).value - 1 for frames, one in self.measured.items()}


ALL_CPUS = ("-a", "--all-cpus", "-C", "--cpu")
"""Its options that sample CPUs, whose timers no switch stops."""


def may_pay_at_switches(tracer: str, kinds: Iterable[str], options: Iterable[str] = ()) -> bool:
    """Whether a tool takes samples, among `kinds` of probes, by timers that may belong to processes."""
    spared = any(option.split(" ")[0] in ALL_CPUS for option in options)
    return tool_of(tracer) == WATCHES_PROCESSES and SAMPLED in kinds and not spared


@once
def sample_law(found: Evidence, machine: str, tracer: str, case: str) -> SampleLaw | None:
    """The law of a sample's case with a tracer on a machine; None where no suite varied the depth of the stack."""
    levels = at_levels(found, (machine, tracer, case), lambda factor: factor.name == FRAMES)
    sound = sorted((int(level), one) for level, one in levels.items() if level.isdigit() and one.leads)
    measured = {frames: one.known_cost for frames, one in sound}
    line = straight_line([(min(frames, WALKED), cost) for frames, cost in measured.items()])
    return SampleLaw(line, measured, {frames: one.event_bytes for frames, one in sound}) if line else None


def in_program(found: Evidence, measured: Number, cost: Number) -> Estimate:
    """The cost of a sample at the depth that those of a program have by their size; that of `cost` where none tells."""
    law = sample_law(found, measured.submission.machine, measured.tracer, cost.case)
    frames = law.frames(measured.event_bytes) if law else None
    return cost.known_cost if law is None or frames is None else law.at(frames)


def stopped(found: Evidence, machine: str, reading: str, frames: int | None) -> CostRow | None:
    """A sample of py-spy that reads so many frames of Python; None where nobody measured two depths on the machine."""
    case = NOT_STOPPED if reading == READINGS[-1] else STOPPED
    levels = found.of_work.get((machine, STOPS, case), {}) if reading in READINGS else {}
    known = sorted((int(name[7:]), one) for name, one in levels.items() if name.startswith("python-"))
    if len(known) < 2:
        return None
    (shallow, least), (deep, most) = known[0], known[-1]
    frames = max(shallow, frames or USUAL_FRAMES)
    share = (min(frames, deep) - shallow) / (deep - shallow)
    cost = estimates.total([least.bounded_cost.times(1 - share), most.bounded_cost.times(share)])
    return CostRow(
        name=case,
        title=found.titles.get(case),
        basis="measured",
        added=(least, most),
        cost=(Estimate(cost.value) if reading.endswith("native") else cost).times(max(1.0, frames / deep)),
        is_clear=least.is_clear and most.is_clear,
        note=NOTES[reading].format(frames=units.count(frames), shallow=shallow, deep=deep),
        stops=True,
    )


def at_depth(found: Evidence, machine: str, tracer: str, part: CostRow, frames: int | None) -> CostRow:
    """The part of a sample at the depth that is asked for, where it is one measured cost whose law is known."""
    if frames is None or not part.is_measured or len(part.added) != 1 or part.less:
        return part
    law = sample_law(found, machine, tracer, part.added[0].case)
    if law is None:
        return replace(part, note=NOTES["no-depth"].format(frames=units.count(frames)))
    said = NOTES["depth"].format(frames=units.count(frames), walked=units.count(WALKED))
    return replace(part, cost=law.at(frames), note=said)
