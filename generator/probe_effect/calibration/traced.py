"""The tracer with a moved script, live for the time of a `with` block, and the runs of its programs."""

import os
from collections.abc import Callable
from types import TracebackType
from typing import Self

from probe_effect.calibration.loop import LoopProcess
from probe_effect.errors import HostNotReady
from probe_effect.live import bpf, bpf_objects
from probe_effect.tracers.protocol import Tracer, TracerFailed
from probe_effect.tracers.tool import WorkFolder

LIVE_WITHIN_S, END_WITHIN_S = 30.0, 10.0


class Traced:
    """A tracer at work on the loop.

    Raises, on entering the block: HostNotReady, in the tracer's own words.
    """

    def __init__(self, text: str, tracer: Tracer, process: LoopProcess) -> None:
        self._work, self._pid = WorkFolder(), process.pid
        script = self._work.path / "calibration.bt"
        script.write_text(text, encoding="utf-8")
        self._before = set(bpf_objects.ids(bpf_objects.PROGRAM_NEXT))
        self._session = tracer.session(script, "nothing", process.path)

    def __enter__(self) -> Self:
        try:
            self._session.attach(self._pid)
            self._session.ready(LIVE_WITHIN_S)
        except BaseException as error:
            self.close()
            if isinstance(error, TracerFailed):
                raise HostNotReady(str(error)) from error
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def stop(self) -> None:
        """Have it end. Raises: HostNotReady where it had ended by itself, so that nothing was traced."""
        try:
            self._session.stop(END_WITHIN_S)
        except TracerFailed as error:
            raise HostNotReady(str(error)) from error

    def runs_in(self, block: Callable[[], None]) -> int:
        """How often programs ran that were not there before, while `block` went on. Raises: OSError."""
        statistics = bpf.enable_statistics()
        try:
            before = self._runs()
            block()
            return self._runs() - before
        finally:
            os.close(statistics)

    def close(self) -> None:
        """Leave nothing behind; once more does no harm."""
        self._session.end()
        self._work.remove()

    def _runs(self) -> int:
        return sum(one.runs for one in bpf_objects.programs() if one.id not in self._before)
