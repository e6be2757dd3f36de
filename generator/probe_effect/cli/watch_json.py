"""The JSON of `probe-effect watch`, which other programs rely on.

It has these keys, null where the kernel or the data do not tell; further ones may follow. `_s_per_s` figures are CPU
seconds per second; each `x_unit` that has an interval has `x_low_unit` and `x_high_unit` too.
`seconds`: how long it looked; `machines`: those whose costs are taken, the nearest first; `cpu_s_per_s`: what all
together take; `program_s_per_s`: what of that the kernel's statistics see; `probe_s_per_s`: the rest, in the probes
themselves; `statistics_s_per_s`: what the statistics take while it looks, in none of these; `statistics_ns`: by how
much they make a run longer; `statistics_counted_ns`: what they find for an empty program, which is taken off each run;
`found`: `sort` (`bpf`, `ftrace`, `perf` or `ptrace`), `id` (of a BPF program), `type`, `name`, `owners` (`pid` and
`comm`), `places` (`kind`, `name`, `path`, `offset_bytes`), `other_places` (how many more), `events_hz`,
`program_s_per_s`, `probe_ns` (of one event, beside its program), `probe_s_per_s`, `cpu_s_per_s`, `machine` (where
`probe_ns` was measured), `why` (what is missing or assumed).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probe_effect.cli.output import interval_json
from probe_effect.cli.watch_costs import total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.cli.watch_costs import Costs, Taken
    from probe_effect.live.loaded import Watch
    from probe_effect.live.places import Place


def watch_json(taken: Sequence[Taken], looked_s: float, watch: Watch, costs: Costs) -> dict[str, Any]:
    """One look as JSON values."""
    programs = [one.active.program_s_per_s for one in taken if one.active.program_s_per_s is not None]
    return {
        "seconds": looked_s,
        "machines": costs.machines,
        **interval_json(total(one for one in (one.cpu_s_per_s for one in taken) if one), "cpu", "s_per_s"),
        "program_s_per_s": sum(programs) if programs else None,
        **interval_json(total(one for one in (one.probe_s_per_s for one in taken) if one), "probe", "s_per_s"),
        "statistics_s_per_s": watch.added_s_per_s([one.active for one in taken]),
        "statistics_ns": watch.own.added_ns,
        "statistics_counted_ns": watch.own.counted_ns,
        "found": [_taken_json(one) for one in taken],
    }


def _taken_json(one: Taken) -> dict[str, Any]:
    loaded = one.active.loaded
    return {
        "sort": loaded.sort,
        "id": loaded.id,
        "type": loaded.kind,
        "name": loaded.name,
        "owners": [{"pid": owner.pid, "comm": owner.comm} for owner in loaded.owners],
        "places": [_place_json(place) for place in loaded.places],
        "other_places": loaded.others,
        "events_hz": one.active.events_hz,
        "program_s_per_s": one.active.program_s_per_s,
        **interval_json(one.probe, "probe", "ns"),
        **interval_json(one.probe_s_per_s, "probe", "s_per_s"),
        **interval_json(one.cpu_s_per_s, "cpu", "s_per_s"),
        "machine": one.machine,
        "why": one.why,
    }


def _place_json(place: Place) -> dict[str, Any]:
    return {
        "kind": place.kind,
        "name": place.name,
        "path": None if place.path is None else str(place.path),
        "offset_bytes": place.offset,
    }
