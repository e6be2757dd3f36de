"""What an exit to the hypervisor takes here, by a program of ours: evidence for what a guest's hypervisor runs on."""

import json
import subprocess
from pathlib import Path

from probe_effect.compilers import MACHINE, c_compiler, compiled
from probe_effect.errors import ProbeEffectError

SOURCE = Path(__file__).with_name("traps.c")
FLAGS = ("-O2", "-std=gnu11", "-Wall", "-Wextra", "-mno-red-zone")
KEYS = ("cpuid_ns", "breakpoint_ns", "step_ns")
TIMEOUT_S = 60


def trap_times(cpu: int, cache: Path | None = None) -> dict[str, float]:
    """The median CPU times, ns, by their keys in `System`; empty without a compiler, and where this is no x86-64."""
    if MACHINE != "x86_64":
        return {}
    try:
        path = compiled(SOURCE, c_compiler(FLAGS), "machine/traps", cache).path
        run = subprocess.run([str(path), str(cpu)], capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
        found = json.loads(run.stdout)
        return {key: float(found[key]) for key in KEYS}
    except (ProbeEffectError, OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError):
        return {}  # facts that a sandbox or another compiler does not give are missing, and stop no measurement
