"""The events of one probe, by thread and CPU."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from probe_effect.live.bpf_program import ELSEWHERE, REST


@dataclass(slots=True)
class ProbeCounts:
    """What was counted of a probe, by whom and where."""

    by_thread: dict[int, int] = field(default_factory=dict)
    by_cpu: dict[int, int] = field(default_factory=dict)
    rest: int = 0
    """Events of the target in threads for which there was no room."""
    elsewhere: int = 0
    """Events of others than the target."""

    @property
    def events(self) -> int:
        """The events of the target."""
        return sum(self.by_thread.values()) + self.rest

    def add(self, thread: int, values: Sequence[int]) -> None:
        """Add the events of a thread on each CPU."""
        if thread == ELSEWHERE:
            self.elsewhere += sum(values)
            return
        if thread == REST:
            self.rest += sum(values)
        else:
            self.by_thread[thread] = self.by_thread.get(thread, 0) + sum(values)
        for cpu, value in enumerate(values):
            if value:
                self.by_cpu[cpu] = self.by_cpu.get(cpu, 0) + value
