"""Scripts of tracers: probes on functions, defined as events in tracefs, from one readable line each; the settings of
ftrace, and words of a command line.

- `probe p:read libc:read`: entry of `read` in the library `libc` that the workload has loaded
- `probe r:nop5 ./user-loop:nop5`: return of `nop5` in a file, named from the folder of the workload
- `probe p:vfs_read vfs_read`: entry of a kernel function
- `probe p:text ./user-loop:text string=+0(%di):string`: what follows the function goes to the kernel as it is
- `probe p:* ./attach-loop:ten_*`: entry of each function of a file that matches; events are named like functions

The part before the blank is the kind (p: entry, r: return) and the event's name. The events are in a group named
by our process id, `probe_effect_<pid>`: no run takes another's for its own, and what a killed one left is recognised.
Scripts call the group `probes`: `event probes/read`, or `-e probes:read`.

Source: Documentation/trace/uprobetracer.rst and kprobetrace.rst of the Linux kernel.

Scripts of ftrace.

One setting per line, named after the file in tracefs that it fills:

- `probe p:read libc:read`: an event of our own; its group is called `probes`
- `event syscalls/sys_enter_read`: enables an event
- `event syscalls/sys_enter_*`: enables each event of the group that matches
- `filter count == 1`: of the event above
- `buffer_size_kb 65536`: of each CPU on which the workload may run; the kernel's own choice by default
- `set_event_pid workload`: only events of the workload; of every process by default
- `current_tracer function_graph`: records functions, without any event; `function` or `function_graph`
- `set_ftrace_filter vfs_read`: the one function that it records

`#` begins a comment.
"""

import errno
import os
import re
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

from probe_effect.host import ROOT, read_text
from probe_effect.host.kernel import FTRACE_TRACERS, no_tracefs, tracefs_folder
from probe_effect.host.symbols import find_function, library_of, matching_functions
from probe_effect.tracers.protocol import LOOK_EVERY_S, PATIENCE_S, Counting, Report, TracerFailed, wait_for_workload
from probe_effect.tracers.tool import ToolSession, read_script, split_arguments

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
    if match and target:
        name, file, function = match["name"], target["file"], target["function"]
        # Name and function are both patterns, which only files have, or neither is.
        if (name == "*") == ("*" in function) and (name != "*" or file is not None):
            kind: Literal["p", "r"] = "p" if match["kind"] == "p" else "r"
            return DynamicProbe(kind=kind, name=name, file=file, function=function, arguments=match["arguments"] or "")
    raise ValueError(f"`{line.strip()}`: {EXPECTED}")


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
                file = tracefs(self._root) / (KERNEL if probe.file is None else USER)
                for name, attach_point in _places(probe, pid, program.parent).items():
                    definition = f"{probe.kind}:{self._group}/{name} {attach_point} {probe.arguments}".rstrip()
                    try:
                        _append(file, definition)
                    except OSError as error:
                        msg = f"`{definition}` in {file}: {kernels_words(definition, file.parent) or error.strerror}"
                        raise TracerFailed(msg) from error
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove the group, also a half-made one; once more does no harm. Raises: TracerFailed when it is in use."""
        remove_group(self._group, self._root)


def groups(root: Path) -> list[str]:
    """Groups of the events on functions, everybody's; none where tracefs is not mounted."""
    folder = tracefs_folder(root)
    text = "\n".join(read_text(folder, name) or "" for name in LISTS) if folder else ""
    return list(dict.fromkeys(match[1] for match in DEFINED.finditer(text)))


def leftovers(root: Path = ROOT) -> list[str]:
    """Groups that killed runs left behind: their processes are no more. `remove_group` removes one."""
    return [group for group in groups(root) if group.startswith(GROUP_PREFIX) and is_orphan(group, root)]


def is_orphan(name: str, root: Path) -> bool:
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
    if "/" in file:
        path = folder / file
    else:
        wait_for_workload(pid)
        library = library_of(pid, file)
        if library is None:
            msg = f"the workload, process {pid}, has loaded no library `{file}`; expected one in /proc/{pid}/maps"
            raise TracerFailed(msg)
        path = Path(library)
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
        return {name: match.offset for name, match in matching_functions(path, function).items()}
    symbol = find_function(path, function)
    return {} if symbol is None else {function: symbol.offset}


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
    errors = re.findall(rf"error: (?!error: )(.+)\n\s*Command: {re.escape(command)}$", log, re.MULTILINE)
    return errors[-1] if errors else None


FORMS = {
    "event": "`event GROUP/NAME`, with `*` in NAME for any letters",
    "filter": "`filter EXPRESSION` below an event",
    "buffer_size_kb": "`buffer_size_kb KIB`, a whole number above 0",
    "set_event_pid": "`set_event_pid workload`",
    "current_tracer": "`current_tracer function` or `current_tracer function_graph`",
    "set_ftrace_filter": "`set_ftrace_filter FUNCTION`",
}

RECORDS = {"function": 1, "function_graph": 2}
"""Tracer to the records that it makes of one call: function_graph has one for entry and one for return.

Source: kernel/trace/trace_functions_graph.c, trace_graph_entry and trace_graph_return.
"""


@dataclass(slots=True)
class Event:
    """An event to enable, or those that match a `*`: `GROUP/NAME`, and its filter."""

    name: str
    filter: str | None = None


@dataclass(slots=True)
class FtraceScript:
    """What a script of ftrace asks for."""

    probes: tuple[DynamicProbe, ...] = ()
    events: list[Event] = field(default_factory=list)
    buffer_size_kb: int | None = None
    only_workload: bool = False
    tracer: str | None = None
    function: str | None = None

    @property
    def records_per_event(self) -> int | None:
        """How many records of the ring buffer stand for one event; None when nothing is recorded."""
        if self.tracer is not None:
            return RECORDS[self.tracer]
        return 1 if self.events else None


def parse_script(text: str, name: str) -> FtraceScript:
    """The script `name`. Raises: TracerFailed with its name, the line, and what was expected there."""
    probes, rest = split_probes(text, name)
    script = FtraceScript(probes)
    for number, line in enumerate(rest.splitlines(), 1):
        words = re.sub(r"(^|\s)#.*", "", line).split(maxsplit=1)
        try:
            if words:
                _take(script, words[0], words[1].strip() if len(words) > 1 else "")
        except ValueError as error:
            raise TracerFailed(f"{name}:{number}: {error}") from error
    if (script.tracer is None) != (script.function is None):  # all functions at once would stop the machine
        raise TracerFailed(f"{name}: expected current_tracer and set_ftrace_filter together")
    if script.tracer is not None and (script.events or script.only_workload):  # their records could not be told apart
        raise TracerFailed(f"{name}: expected no event and no set_event_pid beside current_tracer")
    return script


def _take(script: FtraceScript, word: str, value: str) -> None:
    if word == "event" and re.fullmatch(r"[\w-]+/[\w*-]+", value):
        script.events.append(Event(value))
    elif word == "filter" and value and script.events:
        script.events[-1].filter = value
    elif word == "buffer_size_kb" and re.fullmatch(r"[1-9]\d{0,8}", value, re.ASCII):
        script.buffer_size_kb = int(value)
    elif word == "set_event_pid" and value == "workload":
        script.only_workload = True
    elif word == "current_tracer" and value in FTRACE_TRACERS.values():
        script.tracer = value
    elif word == "set_ftrace_filter" and re.fullmatch(r"[A-Za-z_][\w.]*", value, re.ASCII):
        script.function = value
    else:
        expected = FORMS.get(word) or f"{', '.join(FORMS)} or probe"
        raise ValueError(f"`{word} {value}`: expected {expected}")


class ProbingSession(ToolSession):
    """A session with a tool whose script may define probes beside its words; its buffers count whatever that does."""

    stop_signal = signal.SIGINT
    always_counts = True

    def __init__(self, tool: str, script: Path, counting: Counting, program: Path, root: Path = ROOT) -> None:
        self._probes, words = split_probes(read_script(script), script.name)
        self._events = DynamicEvents(root)
        self.words = split_arguments(self._events.in_group(words), script.name)
        super().__init__(tool, script, counting, program, root)  # last: what fails before leaves no folder behind

    def attach(self, pid: int) -> None:
        wait_for_workload(pid)
        if self._probes:
            self._events.define(self._probes, pid, self.program)
        super().attach(pid)

    def stop(self, timeout_s: float) -> Report:
        report = super().stop(timeout_s)
        self.clear()
        return report

    def end(self) -> None:
        super().end()
        with suppress(TracerFailed):  # `stop` says so where there is a row to say it in
            self.clear()

    def clear(self) -> None:
        if self._probes:
            self._events.remove()
