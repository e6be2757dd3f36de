"""No tool at all: what costs is in the workload, such as probes that nothing enables, or a profiler in its program.

A script is a comment that says what it is, and the suite names the variant.
"""

from dataclasses import dataclass
from pathlib import Path

from probe_effect.host import ROOT
from probe_effect.host.kernel import missing
from probe_effect.model import Need
from probe_effect.tracers.protocol import Counting, Report
from probe_effect.tracers.tool import absent, version_line


@dataclass(frozen=True, slots=True)
class Dormant:
    """The tracer that is none; `program` is a profiler that is installed apart, and started by the workload."""

    id: str = "dormant"
    tool: str = "dormant"
    says: str = "no tool"
    program: str = ""
    advice: str = ""
    root: Path = ROOT

    def available(self) -> str | None:
        """None when it can run here, else what is not installed and what to do."""
        return absent(self.program, self.advice) if self.program else None

    def version(self) -> str | None:
        """What the program prints of itself; without one, words in the place of a version."""
        return version_line(self.program) if self.program else self.says

    def missing(self, need: Need) -> str | None:
        """None when the kernel offers `need` to the workload, else why not."""
        return missing(need, self.root)

    def session(self, script: Path, counting: Counting, program: Path) -> "DormantSession":  # noqa: ARG002 (as all have)
        """A run of the workload alone."""
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
