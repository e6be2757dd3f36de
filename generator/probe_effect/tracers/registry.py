"""The tracers that this version knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.tracers.bpftrace import Bpftrace

if TYPE_CHECKING:
    from probe_effect.tracers.protocol import Tracer


def known_tracers() -> dict[str, Tracer]:
    """Tracer id to tracer, in the order in which they are offered."""
    tracers: tuple[Tracer, ...] = (Bpftrace(),)
    return {tracer.id: tracer for tracer in tracers}
