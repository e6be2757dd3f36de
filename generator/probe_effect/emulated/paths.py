"""Recording the paths of events in an emulated machine: one run more of each case, which is not counted."""

import base64
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from probe_effect.emulated.anatomy import Symbols, path_of
from probe_effect.emulated.messages import Message
from probe_effect.emulated.recording import plugin_words, taken
from probe_effect.model import Key
from probe_effect.store.event_paths import EventPath


@dataclass(slots=True)
class PathRecorder:
    """What is recorded of a suite's cases.

    Attributes:
        machine: the processor, as `uname -m` names it.
        tell: is told of a case whose events are not all alike.
        folder: where the emulator's plugin writes.
    """

    machine: str
    tell: Callable[[str], None]
    folder: Path
    _functions: str = ""
    _found: dict[Key, EventPath | None] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """The emulator's words for it. Raises: as `plugin_words`."""
        return plugin_words(self._prefix)

    def begin(self) -> None:
        """A suite of its own begins."""
        self._found = {}

    def record(self, key: Key, request: Message, ask: Callable[[Message], Message]) -> None:
        """Have the guest make the run once more, and take its path, where there is none of this key yet.

        A run that ended badly, or was too short, leaves none, so that the next one is recorded.
        """
        if key in self._found:
            return
        self._functions = self._functions or _unpacked(ask({"do": "symbols"})["symbols"])
        answer = ask(request | {"looking": False, "symbols": True})
        row, own = answer["row"], _unpacked(answer["symbols"]) if "symbols" in answer else ""
        one = taken(self._prefix, row["wall_ns"]) if row["status"] == "ok" else None
        if one is None:
            return
        symbols = Symbols([*self._functions.splitlines(), *own.splitlines()])
        operations = row["operations"] or row["events"]
        self._found[key] = path = path_of(one, key, operations, symbols, self.machine)
        if path is None or path.alike < path.recorded:
            said = (
                f"{path.alike} of {path.recorded} recorded events are alike"
                if path
                else "no event could be distinguished"
            )
            self.tell(f"{key.case} with {key.tracer}: {said}")

    @property
    def events(self) -> list[EventPath]:
        """One event of each key that was recorded."""
        return [path for path in self._found.values() if path]

    @property
    def _prefix(self) -> Path:
        return self.folder / "recorded"


def _unpacked(text: str) -> str:
    return zlib.decompress(base64.b85decode(text)).decode()
