"""A suite's workload, compiled with flags that are recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.compilers import Compiler, Program, cache_folder, compiled
from probe_effect.store.suite_file import own_headers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Program", "build", "cache_folder"]

FLAGS = ("-O2", "-std=c11", "-Wall", "-Wextra")
NO_COMPILER = "no C compiler: `cc` is not on the PATH. On Debian and Ubuntu: apt install gcc libc6-dev"


def build(
    source: Path, cache: Path | None = None, libraries: Sequence[str] = (), sysroot: Path | None = None
) -> Program:
    """The program made of one C source and the headers of ours that it includes.

    Args:
        source: the `.c` file.
        cache: folder for the outcome; the user's cache by default.
        libraries: names to link with, as `cc -l` takes them.
        sysroot: root of another system, on which it will run; this one by default.
    Raises: HostNotReady without a compiler; ProbeEffectError with its words when it refuses the source.
    """
    link = tuple(f"-l{name}" for name in libraries)
    compiler = Compiler(command=("cc", *FLAGS), link=link, absent=NO_COMPILER, sysroot=sysroot)
    # The file keeps its plain name, because that is the name by which counting twins know the workload.
    return compiled(source, compiler, f"workloads/{source.stem}", cache, own_headers(source))
