"""What is traced without a program of ours: probes that nothing uses, and rules of Linux auditing.

A script is a comment that says what it is, and the suite names the variant.

A script holds rules as `auditctl -R` takes them. Never on a host: /method/instructions/#auditing says why.
Source: auditctl(8); kernel/audit.c and kernel/auditsc.c.
"""

import subprocess
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from probe_effect.host import run_program
from probe_effect.tracers.protocol import Counting, Report, Session, Tracer, TracerFailed
from probe_effect.tracers.tool import Tool, ToolSession, absent, version_line


@dataclass(frozen=True, slots=True)
class Dormant(Tracer):
    """A tracer without a tool; `program` is a profiler that is installed apart, and started by the workload."""

    id: str = "dormant"
    tool: str = "dormant"
    says: str = "no tool"
    program: str = ""
    advice: str = ""

    def available(self) -> str | None:
        return absent(self.program, self.advice) if self.program else None

    def version(self) -> str | None:
        """What the program prints of itself; without one, words in the place of a version."""
        return version_line(self.program) if self.program else self.says

    def session(self, script: Path, counting: Counting, program: Path) -> Session:
        return Session()


ONLY_INSIDE = "auditing is measured with --vm only: once on, it slows whatever starts later, until the next boot"
RULE, SWITCH = "\n-a ", "\n-e "
"""How lines begin: of a rule, and of the word that switches auditing on or off."""


@dataclass(frozen=True, slots=True)
class Audit(Tool):
    """The tracer; `inside`: whether we are in an emulated machine of ours."""

    inside: bool = False

    def available(self) -> str | None:
        return self.absent(self.program) if self.inside else ONLY_INSIDE

    def version(self) -> str | None:
        """What `auditctl -v` prints; None on a host, where nothing of it is run."""
        return version_line(self.program, "-v") if self.inside else None

    def session(self, script: Path, counting: Counting, program: Path) -> "AuditSession":
        """One run, auditing on already. Raises: TracerFailed, always on a host."""
        if not self.inside:
            raise TracerFailed(ONLY_INSIDE)
        return AuditSession(self.program, script, counting, program)


class AuditSession(ToolSession):
    """Auditing as a script wants it, from before the workload is forked, for then its audit context is made or not."""

    name = "auditing"
    always_counts = True

    def __init__(self, tool: str, script: Path, counting: Counting, program: Path) -> None:
        super().__init__(tool, script, counting, program)
        text = script.read_text(encoding="utf-8")
        self._wanted = (text.rpartition(SWITCH)[2][:1], text.count(RULE))
        try:
            self._lost_before = int(self._status()["lost"])
            self._ask("-b", "8192")  # as Debian's rules begin: to load a hundred fills the kernel's own 64
            self._ask("-R", str(script))
        except BaseException:
            self.end()
            raise

    def attach(self, pid: int) -> None:
        """Nothing: all was there before the workload."""
        self.pid = pid

    def is_live(self) -> bool:
        """Whether auditing is on or off, and has as many rules, as the script says."""
        return self._wanted == (self._status()["enabled"], f"\n{self._ask('-l')}".count(RULE))

    def stop(self, timeout_s: float) -> Report:
        """What the kernel lost; nothing was written by a tool. Raises: TracerFailed."""
        return replace(super().stop(timeout_s), output_bytes=None)

    def count(self) -> tuple[int | None, int | None]:
        """(None, because nobody reads the records; records that the kernel had no room for)."""
        return None, int(self._status()["lost"]) - self._lost_before

    def end(self) -> None:
        for words in (("-D",), ("-e", "0")):
            with suppress(TracerFailed):
                self._ask(*words)
        super().end()

    def _status(self) -> dict[str, str]:
        return dict(line.split(maxsplit=1) for line in self._ask("-s").splitlines())

    def _ask(self, *words: str) -> str:
        try:
            run = run_program([self.tool, *words], 30, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            raise TracerFailed(f"auditctl {words[0]}: {getattr(error, 'stderr', None) or error}".strip()) from error
        return run.stdout
