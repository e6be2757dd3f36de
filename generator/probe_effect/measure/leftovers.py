"""The leftovers of a killed run: its programs, probes and folders, found by the process id in their names.

The kernel ends the programs of a run that dies (see `processes`), and most probes with them; this is for the rest.
"""

import contextlib
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from probe_effect.host import ROOT, read_text
from probe_effect.processes import STARTED_BY, end_descriptor, is_readable
from probe_effect.tracers import dynamic_events, ftrace
from probe_effect.tracers.tool import SHARED_MEMORY, WORK_PREFIX

PATIENCE_S = 10.0
"""DTrace takes up to 9 s to end on a busy machine."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """One leftover, in words, and how to remove it."""

    what: str
    remove: Callable[[], None]


def leftovers() -> list[Leftover]:
    """All leftovers of killed runs on this machine; programs first, because they hold the others."""
    return [*_programs(), *_in_tracefs(), *_folders()]


def _programs() -> Iterator[Leftover]:
    for environment in ROOT.glob("proc/[0-9]*/environ"):
        try:
            text = environment.read_bytes()
        except OSError:  # another user's, or gone
            continue
        started_by = re.search(rf"(?:^|\0){STARTED_BY}=(\d+)(?:\0|$)".encode(), text)
        if started_by and not _is_alive(int(started_by[1])):
            pid = int(environment.parent.name)
            name = read_text(environment.parent, "comm") or "ended"
            yield Leftover(f"process {pid} ({name})", partial(_end, pid))


def _in_tracefs() -> Iterator[Leftover]:
    if os.geteuid() != 0:  # to whom it is closed
        return
    for name in ftrace.leftovers():
        yield Leftover(f"tracing instance {name}", partial(ftrace.remove_instance, name))
    for group in dynamic_events.leftovers():
        yield Leftover(f"probes of the group {group}", partial(dynamic_events.remove_group, group))


def _folders() -> Iterator[Leftover]:
    for parent in {SHARED_MEMORY, Path(tempfile.gettempdir())}:
        for path in sorted(parent.glob(f"{WORK_PREFIX}*")):
            pid = re.match(rf"{WORK_PREFIX}(\d+)-", path.name)
            if pid and not _is_alive(int(pid[1])) and path.is_dir():
                yield Leftover(f"folder {path}", partial(shutil.rmtree, path, ignore_errors=True))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return True
    return True


def _end(pid: int) -> None:
    """End a program so that it removes its probes; by force if it does not end."""
    try:
        descriptor = end_descriptor(pid)
    except ProcessLookupError:
        return
    try:
        for demand in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, demand)
            if is_readable(descriptor, PATIENCE_S):
                return
    finally:
        os.close(descriptor)
