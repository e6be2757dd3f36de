"""uftrace (Linux): records entry and return of user functions, from inside the traced program.

uftrace starts the workload with a library of its own in it. The library is called at each function's entry, by a call
that the compiler put there (`-pg`). With `-P` the compiler left room for one (nops), which the library fills with calls
before the program's `main`. A script holds arguments of `uftrace record`.

How it is known that the functions are traced: the workload waits in `main` with uftrace's library in its memory, and,
where the script asks for patching, the library has said that it patched.

Events are the calls that `uftrace report` counts, of whichever functions the script selects; those of the scheduler,
which it shows as functions `linux:..`, are not. Lost are records for which no buffer was free; a call is two records.

Source: uftrace-record(1), uftrace-report(1); libmcount/dynamic.c and cmds/record.c of uftrace 0.13 for the messages.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from probe_effect.tracers.arguments import read_arguments
from probe_effect.tracers.proc import children, has_loaded, waits_for_go
from probe_effect.tracers.protocol import Counting
from probe_effect.tracers.tool import SHARED_MEMORY, Tool, ToolSession, read_back

LIBRARY = "libmcount"

PATCH = ("-P", "--patch")

PATCHED = re.compile(r"^dynamic: +patched\b", re.MULTILINE)
"""`patched all (1) functions in 'user-loop'`, or statistics where it could not patch all that was selected."""

LOST = re.compile(r"LOST (\d+) records")

ROW = re.compile(r"^ *(\d+)  (?!linux:)\S", re.MULTILINE)

RECORDS_PER_CALL = 2


@dataclass(frozen=True, slots=True)
class Uftrace(Tool):
    """The tracer."""

    program: str = "uftrace"
    id: str = "uftrace"
    tool: str = "uftrace"
    sees: ClassVar[str] = "it traces functions from inside the program"

    def session(self, script: Path, counting: Counting, program: Path) -> "UftraceSession":
        """One run. Raises: TracerFailed when the script is not understood."""
        return UftraceSession(self.program, script, counting, program)


class UftraceSession(ToolSession):
    """One uftrace that starts the workload."""

    name = "uftrace"

    def __init__(self, tool: str, script: Path, counting: Counting, program: Path) -> None:
        arguments = read_arguments(script)
        super().__init__(tool, script, counting, program)
        self._is_patching = any(word.startswith(PATCH) for word in arguments)
        said = ("--debug-domain=dynamic:1", f"--logfile={self.work.err}")  # it tells what it patched at this level
        self.prefix = (tool, "record", f"--data={self.written}", *said, *arguments)

    def is_live(self) -> bool:
        """Whether the workload waits, with the library in it and its functions patched. Raises: TracerFailed."""
        is_waiting = any(has_loaded(child, LIBRARY) and waits_for_go(child) for child in children(self.pid))
        if is_waiting and self._is_patching and not PATCHED.search(self.work.err.read_text(encoding="utf-8")):
            self.fail("failed", "patched no function; it takes those that begin with a nop of 5 bytes or a call")
        return is_waiting

    def count(self) -> tuple[int | None, int | None]:
        """(calls recorded, calls lost). Raises: ValueError when uftrace does not report."""
        lost = sum(map(int, LOST.findall(self.work.err.read_text(encoding="utf-8", errors="replace"))))
        command = [self.tool, "report", f"--data={self.written}", "--no-pager", "--color=no", "--output-fields=call"]
        return sum(map(int, ROW.findall(read_back(command)))), -(-lost // RECORDS_PER_CALL)

    def output_bytes(self) -> int:
        """Bytes recorded."""
        return sum(path.stat().st_size for path in self.written.glob("*.dat"))

    def end(self) -> None:
        """Leave no file behind, nor the buffers that a killed uftrace leaves in shared memory."""
        for session in self.written.glob("sid-*.map"):
            for buffer in SHARED_MEMORY.glob(f"uftrace-{session.stem.removeprefix('sid-')}-*"):
                buffer.unlink(missing_ok=True)
        super().end()
