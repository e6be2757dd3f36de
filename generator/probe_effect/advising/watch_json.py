"""The JSON of `probe-effect watch`, which other programs rely on.

It has these keys, null where the kernel or the data do not tell; further ones may follow. `_s_per_s` figures are CPU
seconds per second; each `x_unit` that has an interval has `x_low_unit` and `x_high_unit` too.
`seconds`: how long it looked. `machines`: those whose costs are taken, the nearest first. `cpu_s_per_s`: what all
together take. `program_s_per_s`: what of that the kernel's statistics see. `probe_s_per_s`: the rest, in the probes
themselves. `statistics_s_per_s`: what the statistics take while it looks, in none of these. `statistics_ns`: by how
much they make a run longer. `statistics_counted_ns`: what they find for an empty program, which is taken off each run.
`found`: `sort` (`bpf`, `ftrace`, `perf` or `ptrace`), `id` (of a BPF program), `type`, `name`, `owners` (`pid` and
`comm`). Where it is: `places` (`kind`, `name`, `path`, `offset_bytes`), `other_places` (how many more). What it takes:
`events_hz`, `program_s_per_s`, `probe_ns` (of one event, beside its program), `probe_s_per_s`, `cpu_s_per_s`, `machine`
(where `probe_ns` was measured), `why` (what is missing or assumed).
"""

from collections.abc import Sequence
from typing import Any

from probe_effect.advising.watched import TracingCost, Watched
from probe_effect.live.statistics import OwnCost
from probe_effect.model import interval_json


def watch_json(watched: Watched, machines: Sequence[str], own: OwnCost) -> dict[str, Any]:
    """One look as JSON values."""
    return {
        "seconds": watched.seconds,
        "machines": machines,
        **interval_json(watched.cpu_s_per_s, "cpu", "s_per_s"),
        "program_s_per_s": watched.program_s_per_s,
        **interval_json(watched.probe_s_per_s, "probe", "s_per_s"),
        "statistics_s_per_s": watched.statistics_s_per_s,
        "statistics_ns": own.added_ns,
        "statistics_counted_ns": own.counted_ns,
        "found": [_cost_json(one) for one in watched.costs],
    }


def _cost_json(one: TracingCost) -> dict[str, Any]:
    loaded = one.active.loaded
    return {
        "sort": loaded.sort,
        "id": loaded.id,
        "type": loaded.kind,
        "name": loaded.name,
        "owners": [{"pid": owner.pid, "comm": owner.comm} for owner in loaded.owners],
        "places": [
            {
                "kind": place.kind,
                "name": place.name,
                "path": None if place.path is None else str(place.path),
                "offset_bytes": place.offset,
            }
            for place in loaded.places
        ],
        "other_places": loaded.others,
        "events_hz": one.active.events_hz,
        "program_s_per_s": one.active.program_s_per_s,
        **interval_json(one.probe, "probe", "ns"),
        **interval_json(one.probe_s_per_s, "probe", "s_per_s"),
        **interval_json(one.cpu_s_per_s, "cpu", "s_per_s"),
        "machine": one.machine,
        "why": one.why,
    }
