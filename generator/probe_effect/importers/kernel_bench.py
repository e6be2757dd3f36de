"""What the kernel's BPF selftests print: `tools/testing/selftests/bpf/bench`, its `trig-*` benchmarks above all.

`hits_drops_report_final` of bench.c writes one `Summary: hits` line: the mean of the one-second ticks, in millions a
second, their standard deviation, the share of one producer thread, drops, and both together. The name stands in
`Setting up benchmark '..'...` before it, which `--quiet` leaves out. `benchs/run_bench_trigger.sh` and
`run_bench_uprobes.sh` cut the line down to `kprobe         :    8.540 ± 0.005M/s`. Some versions write `+/-`.

Since 2024 most `trig-*` fire inside one system call, in batches: their untraced side is `trig-kernel-count`, and for
uprobes `trig-usermode-count`. `trigger_measure` of benchs/bench_trigger.c counts hits in the BPF program itself and
never sets drops, so an event that fires no program is in neither.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from probe_effect.importers.extracted import Extracted, Reading, Series, distinct
from probe_effect.importers.files import refuse
from probe_effect.importers.numbers import measured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from probe_effect.importers.files import GivenFile

RATE = r"\s*([0-9.]{1,20}) ?(?:±|\+/-|\+-) ?([0-9.]{1,20}) ?M/s"
NAMED = re.compile(r"(?:Setting up benchmark|Benchmark) '([a-z0-9][a-z0-9_-]{0,60})'")
SUMMARY = re.compile(rf"Summary: hits{RATE}(?: \(\s*([0-9.]{{1,20}})M/prod\))?(?:[ ,].*)?")
SHORT = re.compile(rf"(?:trig-)?([a-z][a-z0-9_-]{{0,60}})\s*:{RATE}(?:\s*\(.*)?")

UNTRACED = re.compile(r"base|\w+-count")
PROBES = {"tp": "tracepoint", "rawtp": "raw-tracepoint", "fmodret": "fmod-ret"}
"""Names of the benchmarks that differ from those that our sources use."""
PLACES = re.compile(r"-(nop|push|ret|nop5|nop10|nop-combo)$")
"""The instruction that a uprobe replaces, which is part of the name and not of the kind of probe."""

MILLION = 10**6

WANTED = "a line `Summary: hits 8.538 ± 0.005M/s (8.538M/prod), ..` or `kprobe : 8.538 ± 0.005M/s`"

MISSING = (
    "events that fired no program, as the program counts the hits and trig benchmarks never count drops",
    "a spread between runs, as the plus-minus is that of one-second ticks of one process",
    "the machine, its kernel and its settings",
    "the cost of attaching and detaching",
)


def read_kernel_bench(files: Sequence[GivenFile]) -> Extracted:
    """The benchmarks of the files, by their names without `trig-`. Raises: UsageError."""
    where = ", ".join(file.name for file in files)
    series = distinct(
        (one for file in files for one in _series(file)), where, "Import runs before and after a change as two sources."
    )
    if not series:
        refuse(where, "no such line", WANTED, "Give the whole output of bench.")
    return Extracted(
        series=series,
        facts={
            "os": "Linux, version not stated",
            "tool_versions": "BPF selftests bench",
            "workload": "events triggered in a loop, each running an empty BPF program",
            "method": "in-tree bench runner, hits per second by one-second ticks",
            "statistic": "mean and standard deviation of ticks of one process",
            "repeats": "1",
        },
        missing=(*MISSING, *_also_missing(series)),
        remarks=tuple(_remarks(series)),
    )


def _also_missing(series: Sequence[Series]) -> Iterator[str]:
    if any(len(one.readings) == 1 for one in series):
        yield "of some lines, the number of producer threads; their times assume one"


def _remarks(series: Sequence[Series]) -> Iterator[str]:
    in_user_code = {one.probe.startswith("u") for one in series if one.probe}
    if len(in_user_code) > 1:
        yield "Probes in the kernel and in user code have untraced sides of their own here; all are compared with one."


def _series(file: GivenFile) -> Iterator[Series]:
    name = ""
    for number, line in file.lines():
        text, where = line.strip(), f"{file.name}:{number}"
        if match := NAMED.match(text):
            name = match[1]
        elif match := SUMMARY.fullmatch(text):
            if not name:
                expected = "`Benchmark '..' started.` before it"
                refuse(where, "a Summary without a name", expected, "Run bench without --quiet.")
            yield _one(where, name, *match.groups())
            name = ""
        elif match := SHORT.fullmatch(text):
            yield _one(where, *match.groups())


def _one(where: str, name: str, hits: str, spread: str, producer: str | None = None) -> Series:
    short = name.removeprefix("trig-")
    readings = [_rate(where, "rate", "hits per second", f"{hits} ± {spread}M/s", hits)]
    if producer is not None:
        readings.append(_rate(where, "rate_producer", "hits per second of one thread", f"{producer}M/prod", producer))
    untraced = bool(UNTRACED.fullmatch(short))
    kind = PLACES.sub("", short)
    return Series(
        name=short,
        readings=tuple(readings),
        time="1000000000 / {rate}" if producer is None else "1000000000 / {rate_producer}",
        untraced=untraced,
        flaw=None if readings[-1].value else "it had no hits",
        tracer=None if untraced else "libbpf",
        probe=None if untraced or "_" in kind else PROBES.get(kind, kind).strip("-"),
        action=None if untraced else "none",
    )


def _rate(where: str, key: str, what: str, printed: str, millions: str) -> Reading:
    value = measured(millions, "hz", where, scale=MILLION)
    return Reading(key=key, what=what, printed=printed, value=value, unit="hz")
