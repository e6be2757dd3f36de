"""The running system as `advise` asks it: tests hand in another."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from probe_effect.advising.machine import this_machine
from probe_effect.live.count import Counted, count
from probe_effect.live.places import Place, places

if TYPE_CHECKING:
    from probe_effect.numbers.likeness import Facts

COMPILE_S = 60.0

FindPlaces = Callable[[str, str, Path, int | None], Sequence[Place]]


def complaint(script: str) -> str | None:
    """Why bpftrace does not compile a script, in its words; None where it does, and where it cannot be asked.

    bpftrace is asked for the compiled program alone, which attaches nothing.
    """
    program = shutil.which("bpftrace")
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "--emit-elf", str(Path(folder, "program")), "-e", script]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_S, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
    is_refused = ended.returncode and "ERROR" in ended.stderr and "root user" not in ended.stderr
    return ended.stderr.strip() if is_refused else None


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """What this machine is, where probes match on it, how often they fire, and what bpftrace says of a script."""

    facts: Facts
    places: FindPlaces = places
    count: Callable[..., Counted] = count
    complaint: Callable[[str], str | None] = complaint
    tell: Callable[[str], None] = lambda _: None
    """Is told, in a sentence, what takes long."""


def this_system(tell: Callable[[str], None]) -> System:
    """The system that this runs on."""
    return System(facts=this_machine(), tell=tell)
