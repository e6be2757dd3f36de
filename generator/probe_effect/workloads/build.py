"""A suite's workload, compiled once and kept under the hash of all that made it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from probe_effect.errors import HostNotReady, ProbeEffectError

if TYPE_CHECKING:
    from collections.abc import Sequence

FLAGS = ("-O2", "-std=c11", "-Wall", "-Wextra")
COMPILE_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled workload, and what compiled it."""

    path: Path
    compiler: str


def build(source: Path, cache: Path | None = None, libraries: Sequence[str] = ()) -> Program:
    """The program made of one C source.

    Args:
        source: the `.c` file.
        libraries: names to link with, as `cc -l` takes them.
        cache: folder for the outcome; the user's cache by default.
    Raises: HostNotReady without a compiler; ProbeEffectError with its words when it refuses the source.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        msg = "no C compiler: `cc` is not on the PATH. On Debian and Ubuntu: apt install gcc libc6-dev"
        raise HostNotReady(msg)
    link = [f"-l{name}" for name in libraries]
    made_by = " ".join([_version(compiler), *FLAGS, *link])
    digest = hashlib.sha256(source.read_bytes() + b"\0" + made_by.encode()).hexdigest()[:16]
    # The file keeps its plain name, because that is the name by which counting twins know the workload.
    path = (cache or cache_folder()) / "workloads" / digest / source.stem
    if not path.is_file():
        _compile([compiler, *FLAGS], source, path, link)
    return Program(path, made_by)


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/probe-effect`, or `~/.cache/probe-effect`."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "probe-effect"


def _version(compiler: str) -> str:
    """First line of the compiler's own account, `gcc (Debian 12.2.0-14) 12.2.0` for instance."""
    run = subprocess.run([compiler, "--version"], capture_output=True, text=True, timeout=30, check=False)
    return run.stdout.partition("\n")[0].strip() or "cc"


def _compile(compiler: Sequence[str], source: Path, path: Path, link: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder) / path.name
        command = [*compiler, "-o", str(made), str(source), *link]
        run = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_TIMEOUT_S, check=False)
        if run.returncode != 0:
            msg = f"{source}: the compiler refused it. `{' '.join(command)}` says:\n{run.stderr.strip()}"
            raise ProbeEffectError(msg)
        made.replace(path)  # in one step: another run may be looking
