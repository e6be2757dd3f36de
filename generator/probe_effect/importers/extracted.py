"""What an importer takes out of a file: series of runs with their numbers, and what the file does not say."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from probe_effect.importers.files import refuse
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from decimal import Decimal

MAX_SERIES = 200
MAX_SHOWN_NAMES = 12

MAX_REPEATS = 25
"""Of one name: each is a figure, and one formula names them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One number as the file prints it; `key` is its name within its series, and `value` is in `unit`."""

    key: str
    what: str
    printed: str
    value: Decimal
    unit: str
    spread_ns: Decimal | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One benchmark, command or kind of run, by the name that the file gives it.

    `time` and `fastest` are formulas over the keys of the readings, such as `1000000000 / {rate}`: the time of one
    operation, or of one run where the file knows no operations. `untraced`: the format itself says that nothing was
    probed; `flaw`: why no cost may be drawn from it.
    """

    name: str
    readings: tuple[Reading, ...]
    time: str
    fastest: str | None = None
    untraced: bool = False
    flaw: str | None = None
    case: str | None = None
    tracer: str | None = None
    probe: str | None = None
    action: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """Everything that the files say, and in `missing`, as phrases, what a submission of ours would say and they do not.

    `facts` are keys of `source.toml`; `whole_runs`: the times are those of whole runs, of unknown many operations.
    """

    series: tuple[Series, ...]
    facts: Mapping[str, str]
    missing: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    whole_runs: bool = False
    baseline: str | None = None


@dataclass(slots=True)
class Repeats:
    """Repeated runs by name: every number a reading of its own, and by each run the time of one operation."""

    readings: dict[str, list[Reading]] = field(default_factory=dict)
    times: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, where: str, readings: Sequence[Reading], time: str) -> None:
        """One more run; keys get its number. Raises: UsageError beyond `MAX_SERIES` names or `MAX_REPEATS` of one."""
        if name not in self.times and len(self.times) == MAX_SERIES:
            refuse(where, f"more than {MAX_SERIES} names", "fewer", "Import the file in parts.")
        times = self.times.setdefault(name, [])
        number = len(times) + 1
        if number > MAX_REPEATS:
            refuse(where, f"run {number} of one name", f"at most {MAX_REPEATS}", "Import fewer runs.")
        numbered = [replace(reading, key=f"{reading.key}_{number}") for reading in readings]
        self.readings.setdefault(name, []).extend(numbered)
        times.append(re.sub(r"\{(\w+)\}", rf"{{\1_{number}}}", time))

    def series(self) -> tuple[Series, ...]:
        """One of each name: the middle of its runs is its time, and the least its fastest, where they are several."""
        return tuple(_repeated(name, self.readings[name], times) for name, times in self.times.items())

    def counts(self) -> list[int]:
        """How many runs each name has."""
        return [len(times) for times in self.times.values()]


def _repeated(name: str, readings: Sequence[Reading], times: Sequence[str]) -> Series:
    if len(times) == 1:
        return Series(name=name, readings=tuple(readings), time=times[0])
    joined = ", ".join(times)
    return Series(name=name, readings=tuple(readings), time=f"median({joined})", fastest=f"min({joined})")


def repeats_text(counts: Sequence[int]) -> str:
    """How often series were run: `3`, or `1 to 3`."""
    least, most = min(counts), max(counts)
    return str(most) if least == most else f"{least} to {most}"


def distinct(found: Iterable[Series], where: str, do: str) -> tuple[Series, ...]:
    """The series, when each has a name of its own and there are not too many. Raises: UsageError."""
    kept: dict[str, Series] = {}
    for one in found:
        if one.name in kept:
            refuse(where, f"`{one.name}` stands twice", "each name once", do)
        kept[one.name] = one
        if len(kept) > MAX_SERIES:
            refuse(where, f"more than {MAX_SERIES} names", "fewer", "Import the file in parts.")
    return tuple(kept.values())


def named(wanted: str, names: Sequence[str], option: str) -> str:
    """`wanted`, when a series has that name. Raises: UsageError, with the names that there are."""
    if wanted not in names:
        shown = ", ".join(f"`{name}`" for name in names[:MAX_SHOWN_NAMES])
        more = f" and {len(names) - MAX_SHOWN_NAMES} more" if len(names) > MAX_SHOWN_NAMES else ""
        refuse(option, f"`{printable(wanted)}` is not in the files", f"one of {shown}{more}", "Write it as here.")
    return wanted
