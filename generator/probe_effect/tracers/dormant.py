"""No tool at all: what costs is in the workload, probes, filters or a profiler.

What such a run costs more than the baseline is the price of having them: probes that nothing enables, filters that the
workload installs on itself, a profiler that the program itself starts. A script is a comment only, which says what that
is; the suite names the workload's variant.
"""

from dataclasses import dataclass
from pathlib import Path

from probe_effect.host import ROOT
from probe_effect.host.kernel import missing
from probe_effect.model import Need
from probe_effect.tracers.protocol import Counting, Report


@dataclass(frozen=True, slots=True)
class Dormant:
    """The tracer that is none."""

    id: str = "dormant"
    tool: str = "dormant"
    says: str = "no tool"
    root: Path = ROOT

    def available(self) -> str | None:
        """None: it can run everywhere."""
        return None

    def version(self) -> str:
        """Words in the place of a version."""
        return self.says

    def missing(self, need: Need) -> str | None:
        """None when the kernel offers `need` to the workload, else why not."""
        return missing(need, self.root)

    def session(self, script: Path, counting: Counting, program: Path) -> "DormantSession":
        """A run of the workload alone."""
        del script, counting, program
        return DormantSession()


class DormantSession:
    """Nothing watches, so nothing is started, counted or ended."""

    prefix: tuple[str, ...] = ()

    def attach(self, pid: int) -> None:
        """Nothing."""

    def ready(self, timeout_s: float) -> None:
        """At once: there is no probe that would have to be live."""

    def stop(self, timeout_s: float) -> Report:
        """A report in which nothing is known: nothing was counted, used or timed."""
        del timeout_s
        return Report()

    def end(self) -> None:
        """Nothing."""
