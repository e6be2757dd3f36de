"""What a machine can do to its times: a record for each condition, which all other packages read, from
`conditions.toml`; nothing is looked for here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from probe_effect.toml import beside


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition; braces in its texts are for what was found of it.

    Attributes:
        seen: where it is found.
        file, shows: where that is one file with a setting, which file, and the pattern that it then has.
        found: what it is.
        why: why it matters.
        advice: what to do.
        measure: what `measure` does where it holds: it begins nothing, or says so and goes on, or only records it.
        fault: why the numbers of a submission that recorded it lead nothing; empty where they may.
    """

    seen: str = ""
    file: str = ""
    shows: str = ""
    found: str
    why: str
    advice: str
    measure: Literal["refuses", "says", "records"] = "records"
    fault: str = ""


CONDITIONS = {name: Condition(**one) for name, one in beside(__file__).items()}
"""Each by its id, which is in `run.warnings` of a submission."""


def faults(recorded: Iterable[str]) -> tuple[str, ...]:
    """Why the numbers of a submission that recorded these conditions lead nothing; empty where they may."""
    return tuple(CONDITIONS[one].fault for one in recorded if one in CONDITIONS and CONDITIONS[one].fault)
