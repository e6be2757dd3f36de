"""The tracers that this version knows, and other versions of them by their path."""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from probe_effect.errors import UsageError
from probe_effect.tools.record import TOOLS, TracingTool
from probe_effect.tracers.protocol import Tracer
from probe_effect.tracers.tool import Tool

VERSION = re.compile(r"\d+(?:\.\d+)+")


def known_tracers() -> dict[str, Tracer]:
    """Tracer id to tracer, in the order in which they are offered."""
    return {tool.name: _tracer(tool) for tool in TOOLS.values()}


def _tracer(tool: TracingTool) -> Tracer:
    module, name = tool.tracer.split(":")
    made = getattr(import_module(f"{__package__}.{module}"), name)
    own = {"program": tool.program} if issubclass(made, Tool) else {}
    tracer: Tracer = made(id=tool.name, tool=tool.name, **own, **tool.options)
    return tracer


def with_paths(known: Mapping[str, Tracer], words: Sequence[str]) -> tuple[dict[str, Tracer], list[str]]:
    """(the known tracers with those given as `NAME=PATH`, the ids of those that `words` name).

    Raises: UsageError for a path that is no such tool, and for two of one version; an unknown name is left to the
        caller.
    """
    tracers, names = dict(known), []
    for word in words:
        name, has_path, program = word.partition("=")
        if has_path and name in known:
            other = at_path(known[name], program)
            name = other.id
            if tracers.setdefault(name, other) != other:
                msg = f"{program}: a {name} is given already; the data cannot tell two programs of one version apart"
                raise UsageError(msg)
        names.append(name)
    return tracers, names


def at_path(tracer: Tracer, program: str) -> Tracer:
    """The same tool by the path of its program, with its version in its id: `bpftrace-0-23-2`.

    Raises: UsageError for a tool that has no program of its own, and for a program that does not say its version.
    """
    if not isinstance(tracer, Tool):
        raise UsageError(f"{tracer.id} is no program that could lie elsewhere; give its name without a path")
    # Tools are started in the workload's folder, and a run that is continued may be so from elsewhere.
    path = Path(found).absolute() if (found := shutil.which(program)) else program
    other = replace(tracer, program=str(path))
    said = other.version() or ""
    number = VERSION.search(said)
    if number is None:
        msg = f"{program}: expected a {tracer.id} that prints its version, found {said or 'nothing that runs'}"
        raise UsageError(msg)
    return replace(other, id=f"{tracer.id}-{number[0].replace('.', '-')}")
