"""What people ask in their own words, each a script; and a script as the probes of a question."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from probe_effect.answer.nearest import ProbeGroup
from probe_effect.scripts.kinds import NO_EVENTS, matches_many
from probe_effect.scripts.script import Script

QUESTIONS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
"""By group, in the order in which they are offered: what somebody wants to see, to its script; the first is preset."""

ANY_THREAD = 0
"""The id of a thread that stands for any."""


def groups(
    script: Script,
    rates_hz: Sequence[float | None] = (),
    mechanisms: Sequence[str | None] = (),
    matched: Mapping[int, int] | None = None,
) -> list[ProbeGroup]:
    """The probes of a script that threads fire, without a system to find them on.

    Args:
        rates_hz: events per second of each probe in one busy thread; None, and behind the end, where nobody says.
        mechanisms: what the kernel does at each probe, likewise.
        matched: probe, counted from 0, to how many functions it matches; needed where it has a wildcard.
    """
    events = [one for one in script.probes if one.kind not in NO_EVENTS]
    return [
        ProbeGroup(
            attach=one.attach,
            kind=one.kind,
            mechanism=mechanisms[at] if at < len(mechanisms) else None,
            matched=(matched or {}).get(at) or (None if matches_many(one.attach) else 1),
            first_bytes=None,
            actions=one.actions,
            has_filter=one.has_filter,
            unknown=one.unknown,
            rate_hz=rate_hz,
            rates_hz=None if rate_hz is None else {ANY_THREAD: rate_hz},
        )
        for at, one in enumerate(events)
        for rate_hz in [(rates_hz[at] if at < len(rates_hz) else None) if one.hz is None else one.hz]
    ]
