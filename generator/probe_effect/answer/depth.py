"""What one sample costs at a depth of the stack: a line over the frames that are walked, and what it leaves over."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from probe_effect import units
from probe_effect.answer.evidence import Evidence
from probe_effect.answer.levels import at_levels
from probe_effect.answer.part import Part
from probe_effect.answer.question import SAMPLED
from probe_effect.answer.words import WORDS
from probe_effect.model import Estimate
from probe_effect.numbers.names import tool_of
from probe_effect.numbers.once import once
from probe_effect.stats.straight_line import StraightLine, straight_line

FRAMES = "frames"
"""The factor of a suite that varies how deep the stack is that a sample finds."""

WALKED = 127
"""Frames that the kernel walks at most: the default of kernel.perf_event_max_stack (PERF_MAX_STACK_DEPTH in
include/uapi/linux/perf_event.h). A user's stack and the kernel's share them."""

WATCHES_PROCESSES = "perf-record"
"""The tool whose timer may belong to a process, and is then stopped and started at each of its context switches."""


@dataclass(frozen=True, slots=True)
class SampleLaw:
    """The cost of a sample, ns, as `line` over the frames walked, and as measured at each depth."""

    line: StraightLine
    measured: Mapping[int, Estimate]

    def at(self, frames: int) -> Estimate:
        """The cost of a sample of a stack of `frames` frames, ns."""
        return self.line.at(min(frames, WALKED))

    @property
    def residuals(self) -> dict[int, float]:
        """Depth to measured less fitted, over fitted, as a ratio."""
        return {frames: one.value / self.at(frames).value - 1 for frames, one in self.measured.items()}


def may_pay_at_switches(tracer: str, kinds: Iterable[str]) -> bool:
    """Whether a tool takes samples, among `kinds` of probes, by timers that may belong to processes."""
    return tool_of(tracer) == WATCHES_PROCESSES and SAMPLED in kinds


@once
def sample_law(found: Evidence, machine: str, tracer: str, case: str) -> SampleLaw | None:
    """The law of a sample's case with a tracer on a machine; None where no suite varied the depth of the stack."""
    levels = at_levels(found, (machine, tracer, case), lambda factor: factor.name == FRAMES)
    measured = {int(level): one.known_cost for level, one in levels.items() if level.isdigit() and one.is_sound}
    line = straight_line([(min(frames, WALKED), cost) for frames, cost in sorted(measured.items())])
    return SampleLaw(line, dict(sorted(measured.items()))) if line else None


def at_depth(found: Evidence, machine: str, tracer: str, part: Part, frames: int | None) -> Part:
    """The part of a sample at the depth that is asked for, where it is one measured cost whose law is known."""
    if frames is None or part.basis != "measured" or len(part.added) != 1:
        return part
    law = sample_law(found, machine, tracer, part.added[0].case)
    if law is None:
        return replace(part, note=WORDS["no-depth"].format(frames=units.count(frames)))
    said = WORDS["depth"].format(frames=units.count(frames), walked=units.count(WALKED))
    return replace(part, cost=law.at(frames), note=said)
