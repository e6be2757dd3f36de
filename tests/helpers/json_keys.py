"""Whether what a command writes as JSON is described, key by key, in `advising/json_keys.toml`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from helpers.builders import PROJECT
from probe_effect.records import beside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

KEYS = beside(str(PROJECT / "generator" / "probe_effect" / "advising" / "json_keys.py"))
SAME = {"others": "comparable.", "threads": "busiest_thread.", "scripts": ""}
"""Keys whose objects have the keys of others; a script has a label and a name too."""

OF_ADVISE = (
    "probes busiest_thread cpu_s_per_s counting_cost_ratio attach_s machine assumptions budget_ratio within_budget "
    "recommendation"
).split()
"""Keys of `advise` that programs rely on."""

OF_PREDICT = (
    "rate_hz per_sample_ns per_sample_low_ns per_sample_high_ns "
    "case tracer threads busy_ratio machine tier dates slowdown_ratio slowdown_low_ratio slowdown_high_ratio "
    "cpu_s_per_s cpu_low_s_per_s cpu_high_s_per_s delay_ratio delay_low_ratio delay_high_ratio event_hz event_low_hz "
    "event_high_hz threshold_1_hz threshold_1_low_hz threshold_1_high_hz threshold_5_hz threshold_5_low_hz "
    "threshold_5_high_hz threshold_30_hz threshold_30_low_hz threshold_30_high_hz distinguishable loss_ratio grade "
    "grade_reasons probes sentence recommendation programs_ratio programs_low_ratio programs_high_ratio "
    "assumptions line combinations alternatives composed comparable others"
).split()
"""All keys of `predict`, in their order."""


def _paths(found: Any, before: str = "") -> Iterator[str]:  # noqa: ANN401
    if isinstance(found, dict):
        for key, value in found.items():
            name = re.sub("_(?:low|high)_", "_", before + key)
            yield name
            yield from _paths(value, SAME.get(name, f"{name}."))
    elif isinstance(found, list):
        for one in found:
            yield from _paths(one, before)


def undescribed(command: str, found: Mapping[str, Any]) -> set[str]:
    """Keys without a description, and the first keys that are described and are not there."""
    described: set[str] = set(KEYS[command])
    first = {key for key in described if "." not in key} - {"here"}
    return (set(_paths(found)) - described - {"label", "name"}) | (first - set(_paths(found)))
