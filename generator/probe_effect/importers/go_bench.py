"""The text of `go test -bench`, as ebpf_exporter prints it for its probes.

`BenchmarkGetpidKprobeWithNoMap/getpid-8   4725835   253.8 ns/op`: a name, with GOMAXPROCS behind the last hyphen unless
it is 1, the operations of the timed run, and pairs of a value and its unit. With `-count 5` each line stands five
times. Form: golang.org/design/14313-benchmark-format. `goos:`, `goarch:`, `pkg:` and `cpu:` stand before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from probe_effect.importers.extracted import MAX_REPEATS, MAX_SERIES, Extracted, Reading, Repeats, repeats_text
from probe_effect.importers.files import refuse, told
from probe_effect.importers.numbers import measured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from probe_effect.importers.files import GivenFile

LINE = re.compile(r"(Benchmark\S{0,400})\s+([0-9]{1,18})\s+(\S.*)")
FACT = re.compile(r"(goos|goarch|pkg|cpu): (.{1,300})")
PROCS = re.compile(r"-[1-9][0-9]{0,4}$")
FAILED = re.compile(r"(--- FAIL:|FAIL\b|panic:)")

MAX_LINES = MAX_SERIES * MAX_REPEATS

WANTED = "lines of `go test -bench`, such as `BenchmarkGetpid 5000000 316 ns/op`"

MISSING = (
    "whether the tracer saw every event, as b.N counts operations only",
    "baselines between the traced runs, as all runs of one benchmark come before the next",
    "the kernel, the machine's settings and the tracer's version",
    "the cost of starting and stopping the tracer",
)


@dataclass(frozen=True, slots=True)
class BenchLine:
    """One timed run."""

    where: str
    name: str
    operations: str
    ns: str


def read_go_bench(files: Sequence[GivenFile]) -> Extracted:
    """The benchmarks of the files, repeated lines as repeated runs. Raises: UsageError."""
    where = ", ".join(file.name for file in files)
    lines = list(islice((line for file in files for line in _lines(file)), MAX_LINES + 1))
    if not lines:
        refuse(where, "no such line with ns/op", WANTED, "Give the whole output of the run.")
    if len(lines) > MAX_LINES:
        refuse(lines[-1].where, f"more than {MAX_LINES} runs", "fewer", "Import the file in parts.")
    procs = _procs(lines)
    runs = Repeats()
    for line in lines:
        runs.add(told(line.name.removesuffix(procs)), line.where, [_reading(line)], "{ns}")
    counts, statistic = runs.counts(), "mean of the operations of a timed run"
    if max(counts) > 1:
        statistic = f"median of the runs, each a {statistic}"
    return Extracted(
        series=runs.series(),
        facts=_facts(files, procs) | {"statistic": statistic, "repeats": repeats_text(counts)},
        missing=MISSING,
        remarks=tuple(_remarks(files)),
    )


def _lines(file: GivenFile) -> Iterator[BenchLine]:
    for number, text in file.lines():
        match = LINE.fullmatch(text.strip())
        if match is None:
            continue
        cells = match[3].split()
        values = dict(zip(cells[1::2], cells[::2], strict=False))
        if "ns/op" in values:
            yield BenchLine(f"{file.name}:{number}", match[1], match[2], values["ns/op"])


def _reading(line: BenchLine) -> Reading:
    return Reading(
        key="ns",
        what="time per operation",
        printed=f"{line.ns} ns/op",
        value=measured(line.ns, "ns", line.where),
        unit="ns",
        note=f"{line.operations} operations in this run.",
    )


def _procs(lines: Sequence[BenchLine]) -> str:
    """What Go put behind every name; nothing unless all names end alike, as `size-16` may be a name's own end."""
    ends = {match[0] if (match := PROCS.search(line.name)) else "" for line in lines}
    return ends.pop() if len(ends) == 1 else ""


def _facts(files: Sequence[GivenFile], procs: str) -> dict[str, str]:
    said = {match[1]: told(match[2]) for file in files for _, text in file.lines() if (match := FACT.fullmatch(text))}
    system = " ".join(said[key] for key in ("goos", "goarch") if key in said)
    cpus = f"GOMAXPROCS {procs[1:]}" if procs else "GOMAXPROCS 1, or not stated"
    package = f" of package {said['pkg']}" if "pkg" in said else ""
    facts = {
        "tool_versions": "Go's testing package, version not stated",
        "workload": f"the benchmarks{package}, one operation a loop",
        "method": f"go test -bench, {cpus}",
    }
    return facts | {key: text for key, text in (("hardware", said.get("cpu", "")), ("os", system)) if text}


def _remarks(files: Sequence[GivenFile]) -> Iterator[str]:
    if any(FAILED.match(text) for file in files for _, text in file.lines()):
        yield "The test run reports a failure, so benchmarks may be missing."
