"""A suite's workload, compiled with flags that are recorded."""

from collections.abc import Sequence
from pathlib import Path

from probe_effect.compilers import CompiledProgram, Sysroot, c_compiler, compiled
from probe_effect.store.suite_file import own_headers

FLAGS = ("-O2", "-std=c11", "-Wall", "-Wextra")


def build(
    source: Path, cache: Path | None = None, libraries: Sequence[str] = (), system: Sysroot | None = None
) -> CompiledProgram:
    """The path of the program compiled from one C source and the headers of ours that it includes.

    It is kept in `cache`, the user's by default, links with `libraries` as `cc -l` takes their names, and runs on
    `system`, this one by default.
    Raises: HostNotReady without a compiler; ProbeEffectError with its message if it refuses the source.
    """
    compiler = c_compiler(FLAGS, [f"-l{name}" for name in libraries], system)
    # The file keeps its plain name, because that is the name by which counting twins know the workload.
    return compiled(source, compiler, f"workloads/{source.stem}", cache, own_headers(source))
