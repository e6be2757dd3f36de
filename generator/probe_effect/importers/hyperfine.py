"""hyperfine's `--export-json`: `results`, each with `command`, `mean`, `stddev`, `median`, `min`, `max`, `times`.

Times are seconds of whole runs, with the start of the process and of the tracer in them. All runs of a command are made
before the first of the next, so they form no blocks, and a drift of the machine is a difference between commands. That,
and that nobody counts events, is why such a file becomes a published source and never a submission, though it holds
every time: a submission needs blocks in random order between two baselines, and events that reconcile.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from probe_effect.importers.extracted import Extracted, Reading, Series, distinct, repeats_text
from probe_effect.importers.files import refuse, told
from probe_effect.importers.numbers import measured, plain
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from probe_effect.importers.files import GivenFile

WANTED = "the file of `hyperfine --export-json`"
EXPORT = "Run hyperfine again with --export-json."

STATISTICS = {
    "mean": "mean time of a run",
    "median": "median time of a run",
    "min": "time of the fastest run",
    "max": "time of the slowest run",
    "user": "mean CPU time of a run in user mode",
    "system": "mean CPU time of a run in the kernel",
}
LEAST_S = Decimal("1e-9")
"""No process runs for less than a nanosecond."""

MAX_TIMES = 100_000

AGREE = 1e-6
"""How far the mean of the times may be from the mean that stands beside them: their last digits."""

MISSING = (
    "how many events a run made, and whether the tracer saw them all",
    "baselines between the traced runs, as all runs of one command come before the next",
    "the machine, its kernel and its settings",
    "the tracer's version, memory and time to attach, which is part of each run",
)


class Token(str):
    """A JSON number as it was written: its digits are what was printed."""

    __slots__ = ()


def read_hyperfine(files: Sequence[GivenFile]) -> Extracted:
    """The commands of the files, with the times of whole runs. Raises: UsageError."""
    results = [(f"{file.name}: results[{place}]", one) for file in files for place, one in enumerate(_results(file))]
    return Extracted(
        series=distinct(
            (_series(result, where) for where, result in results),
            ", ".join(file.name for file in files),
            "Give commands names with --command-name, or import the files as two sources.",
        ),
        facts={
            "tool_versions": "hyperfine, version not stated; the tracer's not stated",
            "workload": "whole runs of the commands named",
            "method": "hyperfine: all runs of one command, then all of the next",
            "statistic": "mean of the runs of one command",
            "repeats": repeats_text([len(result.get("times") or ()) or 1 for _, result in results]),
        },
        missing=MISSING,
        remarks=("The plus-minus of a mean is the standard deviation of its runs, not an interval.",),
        whole_runs=True,
    )


def _results(file: GivenFile) -> list[dict[str, Any]]:
    """The entries of `results`, each known to be an object."""
    try:
        value = json.loads(file.text, parse_float=Token, parse_int=Token, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        refuse(f"{file.name}:{error.lineno}:{error.colno}", error.msg, WANTED, EXPORT)
    except (ValueError, RecursionError) as error:
        refuse(file.name, printable(str(error), 100), WANTED, EXPORT)
    results = value.get("results") if isinstance(value, dict) else None
    if not isinstance(results, list) or not results:
        refuse(file.name, "no list `results` with an entry", WANTED, EXPORT)
    for place, result in enumerate(results):
        if not isinstance(result, dict) or not isinstance(result.get("times", []), list | None):
            refuse(f"{file.name}: results[{place}]", "not one command's object", WANTED, EXPORT)
    return results


def _refuse(constant: str) -> None:
    msg = f"{constant} is not JSON"
    raise ValueError(msg)


def _series(result: dict[str, Any], where: str) -> Series:
    command = result.get("command")
    if not isinstance(command, str) or isinstance(command, Token) or not command.strip():
        refuse(f"{where}.command", "no text", "the command or its name", EXPORT)
    _check_times(result, where)
    return Series(
        name=told(command),
        readings=tuple(_readings(result, where)),
        time="{mean}",
        fastest="{min}",
        flaw=_flaw(result.get("exit_codes")),
    )


def _readings(result: dict[str, Any], where: str) -> Iterator[Reading]:
    for key, what in STATISTICS.items():
        if result.get(key) is None and key not in {"mean", "min"}:
            continue
        value = _number(result.get(key), f"{where}.{key}", LEAST_S if key in {"mean", "min"} else Decimal(0))
        spread = result.get("stddev") if key == "mean" else None
        spread_s = None if spread is None else _number(spread, f"{where}.stddev", Decimal(0))
        printed = f"{result[key]} s" if spread is None else f"{result[key]} ± {spread} s"
        yield Reading(
            key=key,
            what=what,
            printed=printed,
            value=value,
            unit="s",
            spread_ns=None if spread_s is None else plain(spread_s * 10**9),
        )


def _number(value: object, where: str, least: Decimal) -> Decimal:
    if not isinstance(value, Token):
        refuse(where, f"`{printable(str(value))}`", "a number of seconds", EXPORT)
    return measured(value, "s", where, least)


def _check_times(result: dict[str, Any], where: str) -> None:
    """The mean is that of the times. Raises: UsageError for a file that somebody changed in one place only."""
    if len(result.get("times") or ()) > MAX_TIMES:
        refuse(f"{where}.times", "more runs than that", f"at most {MAX_TIMES}", "Make fewer runs.")
    times = [float(_number(one, f"{where}.times", LEAST_S)) for one in result.get("times") or ()]
    if not times:
        return
    given = float(_number(result.get("mean"), f"{where}.mean", LEAST_S))
    found = math.fsum(times) / len(times)
    if not math.isclose(given, found, rel_tol=AGREE):
        refuse(f"{where}.mean", f"{given:.9g} s, but its times give {found:.9g}", "the mean of them", EXPORT)


def _flaw(codes: object) -> str | None:
    """A run that failed is not the run that was meant."""
    failed = sum(code != "0" for code in codes) if isinstance(codes, list) else 0
    return f"{failed} of its runs ended with an error" if failed else None
