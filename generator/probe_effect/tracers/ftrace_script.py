"""Scripts of ftrace.

One setting per line, named after the file in tracefs that it fills:

- `probe p:read libc:read`: an event of our own (dynamic_events.py); its group is called `probes`
- `event syscalls/sys_enter_read`: enables an event
- `event syscalls/sys_enter_*`: enables each event of the group that matches
- `filter count == 1`: of the event above
- `buffer_size_kb 65536`: of each CPU on which the workload may run; the kernel's own choice by default
- `set_event_pid workload`: only events of the workload; of every process by default
- `current_tracer function_graph`: records functions, without any event; `function` or `function_graph`
- `set_ftrace_filter vfs_read`: the one function that it records

`#` begins a comment.
"""

import re
from dataclasses import dataclass, field

from probe_effect.host.kernel import FTRACE_TRACERS
from probe_effect.tracers.dynamic_events import DynamicProbe, split_probes
from probe_effect.tracers.protocol import TracerFailed

FORMS = {
    "event": "`event GROUP/NAME`, with `*` in NAME for any letters",
    "filter": "`filter EXPRESSION` below an event",
    "buffer_size_kb": "`buffer_size_kb KIB`, a whole number above 0",
    "set_event_pid": "`set_event_pid workload`",
    "current_tracer": "`current_tracer function` or `current_tracer function_graph`",
    "set_ftrace_filter": "`set_ftrace_filter FUNCTION`",
}
EXPECTED = f"expected {', '.join(FORMS)} or probe"

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
    """What a script asks for."""

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
    """Add one line to the script. Raises: ValueError."""
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
        raise ValueError(f"`{word} {value}`: " + (f"expected {FORMS[word]}" if word in FORMS else EXPECTED))
