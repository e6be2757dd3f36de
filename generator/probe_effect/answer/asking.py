"""What people ask in their own words, each a script; and a script as the probes of a question."""

from collections.abc import Mapping, Sequence

from probe_effect.answer.evidence import Evidence
from probe_effect.answer.nearest import ProbeGroup
from probe_effect.errors import unknown
from probe_effect.scripts.clauses import NO_EVENTS, matches_many
from probe_effect.scripts.script import Script
from probe_effect.toml import beside

QUESTIONS: dict[str, dict[str, str]] = beside(__file__)
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


def tracer_of(costs: Evidence, script: Script, named: str | None) -> str:
    """The tracer that runs the script, as the data calls it where it was measured. Raises: UsageError for a name."""
    usual = script.tracer
    if named is not None:
        unknown([named], [*costs.tracers, usual], "tracer")
        return named
    fitting = [one for one in costs.tracers if one == usual or one.startswith(f"{usual}-")]
    return usual if usual in fitting or not fitting else fitting[0]
