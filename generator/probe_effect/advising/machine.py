"""The machine that this runs on, and what its bpftrace says of a script."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from probe_effect.machine import collect
from probe_effect.numbers.likeness import Facts, facts_of
from probe_effect.store.machine_file import HOSTED, as_author

COMPILE_S = 60.0


def this_machine() -> Facts:
    """The facts of the machine that this runs on by which it is compared with others."""
    system, machine = collect.collect_system(None), collect.collect_machine()
    if os.environ.get("RUNNER_ENVIRONMENT") == "github-hosted":  # docs.github.com, "Variables reference"
        machine = as_author(machine, system, HOSTED)
    return facts_of(machine, system.kernel_release, vulnerabilities=system.vulnerabilities)


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
