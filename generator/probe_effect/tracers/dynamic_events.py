"""Probes on functions, defined as events in tracefs, from one readable line each in scripts of ftrace and of perf.

- `probe p:read libc:read`: entry of `read` in the library `libc` that the workload has loaded
- `probe r:nop5 ./user-loop:nop5`: return of `nop5` in a file, named from the folder of the workload
- `probe p:vfs_read vfs_read`: entry of a kernel function
- `probe p:text ./user-loop:text string=+0(%di):string`: what follows the function goes to the kernel as it is
- `probe p:* ./attach-loop:ten_*`: entry of each function of a file that matches; events are named like functions

The part before the blank is the kind (p: entry, r: return) and the event's name. The events are in a group named
by our process id, `probe_effect_<pid>`: no run takes another's for its own, and what a killed one left is recognised.
Scripts call the group `probes`: `event probes/read`, or `-e probes:read`.

Source: Documentation/trace/uprobetracer.rst and kprobetrace.rst of the Linux kernel.
"""

import errno
import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

from probe_effect.host import ROOT, read_text
from probe_effect.host.kernel import no_tracefs, tracefs_folder
from probe_effect.host.symbols import find_function, library_of, matching_functions
from probe_effect.tracers.proc import LOOK_EVERY_S, PATIENCE_S, wait_for_workload
from probe_effect.tracers.protocol import TracerFailed

EXPECTED = "expected `probe KIND:NAME FILE:FUNCTION` or `probe KIND:NAME FUNCTION`, with p or r as KIND"
PROBE = re.compile(
    r"probe\s+(?P<kind>[pr]):(?P<name>[A-Za-z_]\w{0,62}|\*)\s+(?P<target>\S+)(?:\s+(?P<arguments>\S.*))?"
)
TARGET = re.compile(r"(?:(?P<file>[^\s:]+):)?(?P<function>[A-Za-z_][\w.@$*]*)")

GROUP_PREFIX = "probe_effect_"
GROUP_IN_SCRIPTS = re.compile(r"\bprobes(?=[:/])")
DEFINED = re.compile(r"^[pr]\d*:(\w+)/(\w+) ", re.MULTILINE)
"""A line of `uprobe_events` and `kprobe_events`; the digits are a return probe's limit of instances."""

USER, KERNEL = LISTS = ("uprobe_events", "kprobe_events")


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicProbe:
    """One probe as a script asks for it."""

    kind: Literal["p", "r"]
    name: str
    file: str | None
    """A path, or the stem of a library (`libc`); None for a kernel function."""
    function: str
    arguments: str = ""


def parse_probe(line: str) -> DynamicProbe:
    """The probe of one line, without comment. Raises: ValueError that says what was expected."""
    match = PROBE.fullmatch(line.strip())
    target = TARGET.fullmatch(match["target"]) if match else None
    if match is None or target is None or not _agree_on_many(match["name"], target["function"], target["file"]):
        raise ValueError(f"`{line.strip()}`: {EXPECTED}")
    kind: Literal["p", "r"] = "p" if match["kind"] == "p" else "r"
    file, function = target["file"], target["function"]
    return DynamicProbe(kind=kind, name=match["name"], file=file, function=function, arguments=match["arguments"] or "")


def _agree_on_many(name: str, function: str, file: str | None) -> bool:
    """Whether both name and function are patterns, which only files have, or neither is."""
    return (name == "*") == ("*" in function) and (name != "*" or file is not None)


def split_probes(text: str, name: str) -> tuple[tuple[DynamicProbe, ...], str]:
    """(the probes of a script, its other lines; those keep their numbers).

    Raises: TracerFailed with the script's `name`, the line, and what was expected.
    """
    probes, rest = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not re.match(r"\s*probe\s", line):
            rest.append(line)
            continue
        rest.append("")
        try:
            probes.append(parse_probe(line.partition(" #")[0]))
        except ValueError as error:
            raise TracerFailed(f"{name}:{number}: {error}") from error
    return tuple(probes), "\n".join(rest) + "\n"


class DynamicEvents:
    """Our own group of events. Always `remove` it."""

    def __init__(self, root: Path = ROOT) -> None:
        self._root = root
        self._group = f"{GROUP_PREFIX}{os.getpid()}"

    def in_group(self, words: str) -> str:
        """`words` of a script with the group's name in the place of `probes`: `probes:read`, `probes/read`."""
        return GROUP_IN_SCRIPTS.sub(self._group, words)

    def define(self, probes: Iterable[DynamicProbe], pid: int, program: Path) -> None:
        """Define every probe, or none.

        The libraries meant are those of the workload `pid`, which waits; paths are relative to the folder of its
        `program`. Raises: TracerFailed with the kernel's words.
        """
        self.remove()  # of a run with the same process id, long ago
        try:
            for probe in probes:
                self._define(probe, pid, program.parent)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove the group, also a half-made one; once more does no harm. Raises: TracerFailed when it is in use."""
        remove_group(self._group, self._root)

    def _define(self, probe: DynamicProbe, pid: int, folder: Path) -> None:
        file = tracefs(self._root) / (KERNEL if probe.file is None else USER)
        for name, place in _places(probe, pid, folder).items():
            definition = f"{probe.kind}:{self._group}/{name} {place} {probe.arguments}".rstrip()
            try:
                _append(file, definition)
            except OSError as error:
                msg = f"`{definition}` in {file}: {kernels_words(definition, file.parent) or error.strerror}"
                raise TracerFailed(msg) from error


def groups(root: Path) -> list[str]:
    """Groups of the events on functions, everybody's; none where tracefs is not mounted."""
    folder = tracefs_folder(root)
    text = "\n".join(read_text(folder, name) or "" for name in LISTS) if folder else ""
    return list(dict.fromkeys(match[1] for match in DEFINED.finditer(text)))


def leftovers(root: Path = ROOT) -> list[str]:
    """Groups that killed runs left behind: their processes are no more. `remove_group` removes one."""
    return [group for group in groups(root) if group.startswith(GROUP_PREFIX) and is_orphan(group, root)]


def is_orphan(name: str, root: Path) -> bool:
    """Whether the process is gone whose id ends `name`."""
    pid = re.search(r"\d+$", name)
    return pid is not None and not (root / "proc" / pid[0]).exists()


def remove_group(group: str, root: Path = ROOT) -> None:
    """Remove a group's events, which must not be enabled any more. Raises: TracerFailed while something uses them."""
    for name in LISTS:
        file = tracefs(root) / name
        text = read_text(file.parent, name) or ""
        for event in [match[2] for match in DEFINED.finditer(text) if match[1] == group]:
            line = f"-:{group}/{event}"
            advice = "end what still uses the event, then write that line"
            remove(partial(_append, file, line), f"`{line}` in {file}", advice)


def tracefs(root: Path = ROOT) -> Path:
    """Where tracefs is mounted. Raises: TracerFailed when it is not."""
    folder = tracefs_folder(root)
    if folder is None:
        raise TracerFailed(no_tracefs(root))
    return folder


def _places(probe: DynamicProbe, pid: int, folder: Path) -> dict[str, str]:
    """The event's name to its place as the kernel takes it, `PATH:OFFSET` of a user function. Raises: TracerFailed."""
    file, function = probe.file, probe.function
    if file is None:
        return {probe.name: function}
    path = folder / file if "/" in file else _library(file, pid)
    try:
        offsets = _offsets(path, function, path.stat().st_mtime_ns)
    except OSError as error:
        raise TracerFailed(f"{path}: {error.strerror}; expected the file that has the function `{function}`") from error
    if not offsets:
        msg = f"{path} has no function `{function}`: expected one in its symbol table; is the file stripped?"
        raise TracerFailed(msg)
    resolved = str(path.resolve())
    if re.search(r"[\s:]", resolved):
        msg = f"the kernel takes no blank and no colon in a path, and {resolved!r} has one; use another cache folder"
        raise TracerFailed(msg)
    return {name if probe.name == "*" else probe.name: f"{resolved}:{offset:#x}" for name, offset in offsets.items()}


@lru_cache
def _offsets(path: Path, function: str, changed_ns: int) -> dict[str, int]:
    """Where a function, or each that matches, begins in its file; none where the file has none.

    Kept, because the search takes 0.1 s and would count as the tracer's.
    """
    del changed_ns  # a file that changed is another file
    if "*" in function:
        return {name: one.offset for name, one in matching_functions(path, function).items()}
    found = find_function(path, function)
    return {} if found is None else {function: found.offset}


def _library(stem: str, pid: int) -> Path:
    wait_for_workload(pid)
    path = library_of(pid, stem)
    if path is None:
        msg = f"the workload, process {pid}, has loaded no library `{stem}`; expected one in /proc/{pid}/maps"
        raise TracerFailed(msg)
    return Path(path)


def _append(file: Path, line: str) -> None:
    """Write one line. Opened for appending: the kernel takes truncation as a request to remove everybody's events."""
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)


def remove(step: Callable[[], None], what: str, advice: str) -> None:
    """Take a step that removes something from tracefs; gone already does no harm. Raises: TracerFailed with `advice`.

    A tool that has just ended may hold it for a moment.
    """
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            return step()
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline_s:
                raise TracerFailed(f"{what}: {error.strerror}; {advice}") from error
            time.sleep(LOOK_EVERY_S)


def kernels_words(command: str, folder: Path) -> str | None:
    """What the log of errors in a folder of tracefs says about `command`; None when it is silent."""
    log = read_text(folder, "error_log") or ""
    said = re.findall(rf"error: (?!error: )(.+)\n\s*Command: {re.escape(command)}$", log, re.MULTILINE)
    return said[-1] if said else None
