"""The tracers that this version knows, and other versions of them by their path."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from probe_effect.errors import UsageError
from probe_effect.tracers.bpftrace import Bpftrace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probe_effect.tracers.protocol import Tracer

VERSION = re.compile(r"\d+(?:\.\d+)+")


def known_tracers() -> dict[str, Tracer]:
    """Tracer id to tracer, in the order in which they are offered."""
    tracers: tuple[Tracer, ...] = (Bpftrace(),)
    return {tracer.id: tracer for tracer in tracers}


def with_paths(known: Mapping[str, Tracer], words: Sequence[str]) -> tuple[dict[str, Tracer], list[str]]:
    """(the known tracers with those given as `NAME=PATH`, the ids of those that `words` name).

    Raises: UsageError for a path that is no such tool; an unknown name is left to whoever chooses.
    """
    tracers, names = dict(known), []
    for word in words:
        name, _, program = word.partition("=")
        if program and name in known:
            other = at_path(known[name], program)
            tracers[other.id] = other
            name = other.id
        names.append(name)
    return tracers, names


def at_path(tracer: Tracer, program: str) -> Tracer:
    """The same tool by the path of its program, with its version in its id: `bpftrace-0-23-2`.

    Raises: UsageError for a tool that has no program of its own, and for a program that does not say its version.
    """
    if not hasattr(tracer, "program"):
        msg = f"{tracer.id} is no program that could lie elsewhere; give its name without a path"
        raise UsageError(msg)
    other: Tracer = replace(tracer, program=program)  # type: ignore[type-var]
    said = other.version() or ""
    number = VERSION.search(said)
    if number is None:
        msg = f"{program}: expected a {tracer.id} that prints its version, found {said or 'nothing that runs'}"
        raise UsageError(msg)
    return replace(other, id=f"{tracer.id}-{number[0].replace('.', '-')}")  # type: ignore[type-var]
