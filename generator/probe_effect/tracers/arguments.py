"""Scripts that hold words of a command line, with comments, and sessions with tools whose scripts define probes too."""

import shlex
import signal
from contextlib import suppress
from pathlib import Path

from probe_effect.tracers.dynamic_events import DynamicEvents, split_probes
from probe_effect.tracers.proc import wait_for_workload
from probe_effect.tracers.protocol import Counting, Report, TracerFailed
from probe_effect.tracers.tool import ToolSession


def read_arguments(script: Path) -> list[str]:
    """The words in `script`, split as a shell splits them; `#` begins a comment. Raises: TracerFailed."""
    return split_arguments(read_script(script), script.name)


def read_script(script: Path) -> str:
    """The text of `script`. Raises: TracerFailed."""
    try:
        return script.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TracerFailed(f"{script.name}: expected text in UTF-8: {error}") from error


def split_arguments(text: str, name: str) -> list[str]:
    """The words in `text`, which is of the script `name`, likewise. Raises: TracerFailed."""
    try:
        return shlex.split(text, comments=True)
    except ValueError as error:
        raise TracerFailed(f"{name}: expected words as on a command line, with # comments: {error}") from error


class ProbingSession(ToolSession):
    """A session with a tool whose script may define probes (dynamic_events.py) beside its words.

    Its buffers count whatever the script does.
    """

    stop_signal = signal.SIGINT
    always_counts = True

    def __init__(self, tool: str, script: Path, counting: Counting, program: Path, root: Path) -> None:
        self.root = root
        self._probes, words = split_probes(read_script(script), script.name)
        self._events = DynamicEvents(root)
        self.words = split_arguments(self._events.in_group(words), script.name)
        super().__init__(tool, script, counting, program)  # last: what fails before leaves no folder behind

    def attach(self, pid: int) -> None:
        """Define the script's probes and start the tool. Raises: TracerFailed."""
        wait_for_workload(pid)
        if self._probes:
            self._events.define(self._probes, pid, self.program)
        super().attach(pid)

    def stop(self, timeout_s: float) -> Report:
        """Have the tool flush and exit, count, and remove the script's probes. Raises: TracerFailed."""
        report = super().stop(timeout_s)
        self.clear()
        return report

    def end(self) -> None:
        """Leave no process, no probe and no file behind."""
        super().end()
        with suppress(TracerFailed):  # `stop` says so where there is a row to say it in
            self.clear()

    def clear(self) -> None:
        """Remove the script's probes. Raises: TracerFailed while something uses them."""
        if self._probes:
            self._events.remove()
