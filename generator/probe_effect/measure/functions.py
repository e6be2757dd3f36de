"""Which instructions are probed: the first bytes of each user function that a suite names.

The same probe costs 0.2 or 17 µs by the instruction that it stands on, so no number compares without them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from probe_effect.tracers.proc import wait_for_workload
from probe_effect.tracers.symbols import find_function, library_of
from probe_effect.workloads.loop import Workload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.workloads.loop import Load


def probed_functions(names: Sequence[str], load: Load) -> dict[str, str]:
    """`file:symbol` to its first bytes in hexadecimal digits; what cannot be found is left out.

    Args:
        names: `file:symbol` each; a file is the workload's, or a library's stem (`libc`).
        load: a workload that has mapped those libraries once it waits.
    """
    if not names:
        return {}
    workload = Workload(load)
    try:
        wait_for_workload(workload.pid)
        found = {name: _first_bytes(name, load.program, workload.pid) for name in names}
    finally:
        workload.end()
    return {name: text for name, text in found.items() if text is not None}


def _first_bytes(name: str, program: Path, pid: int) -> str | None:
    file, _, symbol = name.partition(":")
    path = str(program) if file == program.name else library_of(pid, file)
    function = find_function(Path(path), symbol) if path else None
    return function.first_bytes.hex(" ") if function else None
