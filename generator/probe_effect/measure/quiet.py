"""A quieter machine for as long as we measure: governor and turbo are set, and put back however we end.

The old values are on disk before anything is set, so that the next `lend` puts back what a killed one has left. The
file is locked meanwhile: what a `lend` at work has set is nobody's to put back. Files and values:
Documentation/admin-guide/pm/cpufreq.rst and intel_pstate.rst.
"""

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from probe_effect.host import ROOT, read_text
from probe_effect.machine.cpu import CPU_FOLDER
from probe_effect.measure.interrupt import undisturbed

QUIET = (
    ("cpu[0-9]*/cpufreq/scaling_governor", "performance"),
    ("intel_pstate/no_turbo", "1"),
    ("cpufreq/boost", "0"),
)
"""Files below `CPU_FOLDER`, and the value of each that makes times vary less."""


def state_file() -> Path:
    """Where the old values are: below `$XDG_STATE_HOME/probe-effect`, or `~/.local/state/probe-effect`."""
    home = os.environ.get("XDG_STATE_HOME")
    return (Path(home) if home else Path.home() / ".local/state") / "probe-effect" / "settings-before.json"


@contextmanager
def quiet_machine(say: Callable[[str], None], *, is_asked_for: bool, root: Path = ROOT) -> Iterator[None]:
    """Set what can be set, where that is asked for, and put it back at the end. `say` is told what is done."""
    values = {path: value for path, value in _settings(root).items() if is_asked_for and value != _current(path)}
    if not values:
        yield
        return
    state = state_file()
    state.parent.mkdir(parents=True, exist_ok=True)
    with state.open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        json.dump({str(path): _current(path) for path in values}, file)
        file.flush()
        os.fsync(file.fileno())
        try:
            for words in _set(values):
                say(words)
            yield
        finally:
            with undisturbed():
                for words in _restore(state):
                    say(words)


def put_back() -> list[str]:
    """Put back what a killed `lend` has set, in words; nothing where none has, or where one is at work."""
    state = state_file()
    try:
        with state.open("r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return _restore(state)
    except (FileNotFoundError, BlockingIOError):
        return []


def _settings(root: Path) -> dict[Path, str]:
    """Each file of this machine that can be written, to its quiet value."""
    found = {path: value for names, value in QUIET for path in sorted((root / CPU_FOLDER).glob(names))}
    return {path: value for path, value in found.items() if os.access(path, os.W_OK)}


def _current(path: Path) -> str | None:
    return read_text(path.parent, path.name)


def _set(values: Mapping[Path, str]) -> list[str]:
    """Write each value; what was done, in words."""
    words = []
    for path, value in values.items():
        try:
            path.write_text(value, encoding="utf-8")
            words.append(f"set: {path} to {value}")
        except OSError as refusal:
            words.append(f"not set: {path} to {value}: {refusal.strerror}")
    return words


def _restore(state: Path) -> list[str]:
    """Put back what the file says, and remove it once all is as it was."""
    try:
        values: dict[str, str] = json.loads(state.read_text(encoding="utf-8") or "{}")
    except ValueError:  # killed while it was written: nothing was set yet
        values = {}
    words = _set({Path(path): value for path, value in values.items()})
    if all(_current(Path(path)) == value for path, value in values.items()):
        state.unlink()
    return words
