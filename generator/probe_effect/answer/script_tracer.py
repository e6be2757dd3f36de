"""Which tracer's costs a script has."""

from probe_effect.answer.evidence import Evidence
from probe_effect.errors import unknown
from probe_effect.scripts.script import Script


def tracer_of(costs: Evidence, script: Script, named: str | None) -> str:
    """The tracer that runs the script, as the data calls it where it was measured. Raises: UsageError for a name."""
    usual = script.tracer
    if named is not None:
        unknown([named], [*costs.tracers, usual], "tracer")
        return named
    fitting = [one for one in costs.tracers if one == usual or one.startswith(f"{usual}-")]
    return usual if usual in fitting or not fitting else fitting[0]
