"""What an importer takes out of a file: arms with their numbers, and what the file does not say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from probe_effect.importers.files import refuse
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from decimal import Decimal

    from probe_effect.importers.files import GivenFile

MAX_ARMS = 200
MAX_SHOWN_NAMES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One number as the file prints it; `key` is its name within its arm, and `value` is in `unit`."""

    key: str
    what: str
    printed: str
    value: Decimal
    unit: str
    spread_ns: Decimal | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
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
class Found:
    """Everything that the files say, and in `missing`, as phrases, what a submission of ours would say and they do not.

    `facts` are keys of `source.toml`; `whole_runs`: the times are those of whole runs, of unknown many operations.
    """

    arms: tuple[Arm, ...]
    facts: Mapping[str, str]
    missing: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    whole_runs: bool = False
    baseline: str | None = None


class Importer(Protocol):
    """One format of others' results. Raises: UsageError for files that are not of it, or hold nothing to import."""

    def __call__(self, files: Sequence[GivenFile]) -> Found:
        """What the files say together."""


def distinct(arms: Iterable[Arm], where: str, do: str) -> tuple[Arm, ...]:
    """The arms, when each has a name of its own and there are any, but not too many. Raises: UsageError."""
    kept: dict[str, Arm] = {}
    for arm in arms:
        if arm.name in kept:
            refuse(where, f"`{arm.name}` stands twice", "each name once", do)
        kept[arm.name] = arm
        if len(kept) > MAX_ARMS:
            refuse(where, f"more than {MAX_ARMS} names", "fewer", "Import the file in parts.")
    return tuple(kept.values())


def named(wanted: str, names: Sequence[str], option: str) -> str:
    """`wanted`, when an arm has that name. Raises: UsageError, with the names that there are."""
    if wanted not in names:
        shown = ", ".join(f"`{name}`" for name in names[:MAX_SHOWN_NAMES])
        more = f" and {len(names) - MAX_SHOWN_NAMES} more" if len(names) > MAX_SHOWN_NAMES else ""
        refuse(option, f"`{printable(wanted)}` is not in the files", f"one of {shown}{more}", "Write it as here.")
    return wanted
