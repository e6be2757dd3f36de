"""Small valid objects and folders, so that a test changes just what it is about."""

from __future__ import annotations

import json
import re
import shutil
import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from probe_effect.model import Sample
from probe_effect.store.beside_files import FIGURE_COLUMNS
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.result_tables import RunWriter
from probe_effect.store.tables import csv_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from probe_effect.model import Arm, Problem, Status

PROJECT = Path(__file__).resolve().parents[2]
REAL_DATA = PROJECT / "data"

EVENTS = 1000
BASELINE_NS = 100
COST_NS = 50
MACHINE = "test-machine"
FOLDER = "2026-11-20-per-event"
SEED = 7

PRINTS_ITS_WORDS = """#!/bin/sh
[ "$1" = --version ] && { echo "words 1.0"; exit 0; }
words="$*"
while [ "$1" != -o ]; do shift; done
echo "$words" >"$2"
"""
"""A compiler whose program is the words that it was called with."""


class RowChanges(TypedDict, total=False):
    """What tests change in a row."""

    tracer: str
    level: str | None
    events: int | None
    seen: int | None
    lost: int | None
    wall_ns: int | None
    status: Status
    note: str | None


def baseline_row(block: int, position: int, per_event_ns: float = BASELINE_NS, **changes: Unpack[RowChanges]) -> Sample:
    """An untraced run of `EVENTS` operations."""
    row = Sample(block=block, position=position, case="baseline", tracer="none", arm="baseline", events=EVENTS)
    return replace(replace(row, wall_ns=round(per_event_ns * EVENTS)), **changes)


def traced_row(
    block: int, position: int, per_event_ns: float, case: str = "02-kprobe", **changes: Unpack[RowChanges]
) -> Sample:
    """A traced run of `EVENTS` operations."""
    row = Sample(block=block, position=position, case=case, tracer="bpftrace", arm="traced", events=EVENTS)
    return replace(replace(row, wall_ns=round(per_event_ns * EVENTS)), **changes)


def skipped_row(position: int, case: str = "06-uprobe", note: str = "this kernel has no uprobes") -> Sample:
    """A case that could not be measured."""
    return Sample(block=0, position=position, case=case, tracer="bpftrace", arm="traced", status="skipped", note=note)


def block_rows(
    block: int,
    cost_ns: float = COST_NS,
    baselines_ns: Sequence[float] = (BASELINE_NS, BASELINE_NS),
    **changes: Unpack[RowChanges],
) -> list[Sample]:
    """One block: its baselines with the traced run after the first."""
    rows = [baseline_row(block, 2 * place, value) for place, value in enumerate(baselines_ns)]
    mean = sum(baselines_ns) / len(baselines_ns)
    return sorted([*rows, traced_row(block, 1, mean + cost_ns, **changes)], key=lambda row: row.position)


def many_blocks(blocks: int = 8, cost_ns: float = COST_NS, **changes: Unpack[RowChanges]) -> list[Sample]:
    """`blocks` blocks in which the tracer costs exactly `cost_ns`."""
    return [row for block in range(blocks) for row in block_rows(block, cost_ns, **changes)]


def machine_values() -> dict[str, Any]:
    """A valid `machine.json` as JSON values."""
    return {
        "schema_version": 1,
        "machine": {
            "id": MACHINE,
            "cpu_model": "Example CPU 9000",
            "architecture": "x86_64",
            "sockets": 1,
            "cores": 4,
            "threads": 8,
            "smt": True,
            "memory_bytes": 17179869184,
            "governor": "performance",
            "turbo": False,
            "microcode": "0x1",
            "virtualization": None,
            "nested": None,
        },
        "system": {
            "os": "Debian 13",
            "kernel_release": "6.12.1-amd64",
            "kernel_config": {"KPROBES": "y"},
            "boot_flags": ["mitigations=auto"],
            "vulnerabilities": {"spectre_v2": "Mitigation"},
            "clocksource": "tsc",
            "clock_read_ns": 21.5,
            "bpf_jit": "1",
        },
        "tools": {"bpftrace": "v0.23"},
        "run": {
            "suite": "per-event",
            "suite_version": 1,
            "started": "2026-11-20T10:00:00Z",
            "ended": "2026-11-20T10:30:00Z",
            "blocks": 8,
            "workload_cpu": 0,
            "tracer_cpu": 1,
            "seed": SEED,
            "command": ["probe-effect", "measure"],
            "metric": "time",
            "load_before": 0.1,
            "load_after": 1.0,
            "compiler": "cc -O2",
        },
        "submitter": {"name": None, "url": None},
        "provenance": {"tool": "probe-effect 0.1.0", "kind": "project"},
    }


def changed(values: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """`values` with the value at the dotted `path` replaced."""
    *parents, last = path.split(".")
    place = values
    for parent in parents:
        place = place[parent]
    place[last] = value
    return values


def machine_document(**changes: object) -> MachineFile:
    """A valid document; `changes` by dotted path with `__` for the dot."""
    values = machine_values()
    for path, value in changes.items():
        changed(values, path.replace("__", "."), value)
    return MachineFile.model_validate_json(json.dumps(values))


def write_samples(path: Path, samples: Iterable[Sample]) -> Path:
    """A `samples.csv` as the tool writes it, and its `histogram.csv` where the samples have any."""
    with RunWriter(path) as writer:
        for sample in samples:
            writer.write(sample)
    return path


def write_submission(
    data: Path, samples: Iterable[Sample] | None = None, values: dict[str, Any] | None = None, folder: str = FOLDER
) -> Path:
    """A submission under `data`; its folder."""
    document = machine_values() if values is None else values
    target: Path = data / "results" / document["machine"]["id"] / folder
    document = document | {"run": document["run"] | _own_moment_and_seed(target, document["run"])}
    target.mkdir(parents=True)
    (target / "machine.json").write_text(json.dumps(document, indent=2), encoding="utf-8")
    write_samples(target / "samples.csv", many_blocks() if samples is None else samples)
    return target


def _own_moment_and_seed(target: Path, run: Mapping[str, Any]) -> dict[str, Any]:
    """What no two runs have in common, where a test does not say it: seed, and minute and second of the start.

    Those of the usual machine remain the newest.
    """
    own = zlib.crc32(f"{target.parent.name}/{target.name}".encode())
    if (target.parent.name, target.name) == (MACHINE, FOLDER) or run.get("seed") != SEED:
        return {}
    hour = "10" if target.parent.name == MACHINE else "09"
    started = f"{hour}:{own % 20:02}:{own // 20 % 60:02}Z"
    return {"seed": own, "started": str(run["started"]).replace("10:00:00Z", started)}


UNTRACED_INSTRUCTIONS = 1500
COUNTED_MACHINE = "qemu-tcg-6-1-0-50"
COUNTED_FOLDER = "2026-11-21-per-event"
COUNTED_COSTS = {"02-kprobe bpftrace": 640.0, "19-fentry bpftrace": 110.0, "19-fentry libbpf": 95.0}
"""Case and tracer, with a blank between as in `run.mechanisms`, to instructions per event."""


def counted_row(block: int, position: int, instructions: float, subject: str = "baseline none") -> Sample:
    """A run of `EVENTS` operations in an emulated machine; `subject` is case and tracer, with a blank between."""
    case, tracer = subject.split(" ")
    arm: Arm = "baseline" if tracer == "none" else "traced"
    row = Sample(block=block, position=position, case=case, tracer=tracer, arm=arm, events=EVENTS)
    return replace(row, instructions=round(instructions * EVENTS))


def counted_rows(
    costs: Mapping[str, float] = COUNTED_COSTS, blocks: int = 3, jitter_instructions: float = 0.5
) -> list[Sample]:
    """`blocks` blocks in which each of `costs` is met in the middle, and missed by the jitter in some blocks."""
    rows: list[Sample] = []
    for block in range(blocks):
        missed = (block % 3 - 1) * jitter_instructions
        last = len(costs) + 1
        rows.append(counted_row(block, 0, UNTRACED_INSTRUCTIONS))
        rows += [
            counted_row(block, place, UNTRACED_INSTRUCTIONS + cost + missed, subject)
            for place, (subject, cost) in enumerate(costs.items(), start=1)
        ]
        rows.append(counted_row(block, last, UNTRACED_INSTRUCTIONS))
    return rows


def counted_values(kernel_release: str = "6.1.0-50-amd64", machine: str = COUNTED_MACHINE) -> dict[str, Any]:
    """A valid `machine.json` of an emulated machine as JSON values."""
    values = machine_values()
    values["machine"] |= {
        "id": machine,
        "cpu_model": "QEMU TCG CPU version 2.5+",
        "sockets": 1,
        "cores": 1,
        "threads": 1,
        "smt": False,
        "governor": None,
        "turbo": None,
        "virtualization": "QEMU TCG",
    }
    values["system"] |= {"os": "Debian 12", "kernel_release": kernel_release}
    values["tools"] = {"bpftrace": "v0.17.0", "libbpf": "libbpf 1.1"}
    values["run"] |= {
        "metric": "instructions",
        "started": f"{COUNTED_FOLDER[:10]}T10:00:00Z",
        "ended": f"{COUNTED_FOLDER[:10]}T10:30:00Z",
        "blocks": 3,
        "tracer_cpu": None,
        "mechanisms": {"02-kprobe bpftrace": "ftrace"},
        "packages": {"kernel": f"linux-image-{kernel_release} 6.1.176-1", "bpftrace": "bpftrace 0.17.0-1 (bookworm)"}
        | {"emulator": "QEMU emulator version 7.2.22 -accel tcg"},
    }
    return values


def counted_document(**values: str) -> MachineFile:
    """A valid document of an emulated machine; `values` as those of `counted_values`."""
    return MachineFile.model_validate_json(json.dumps(counted_values(**values)))


def write_counted_submission(
    data: Path,
    samples: Iterable[Sample] | None = None,
    values: dict[str, Any] | None = None,
    folder: str = COUNTED_FOLDER,
) -> Path:
    """A submission of counted instructions under `data`; its folder."""
    found = counted_values() if values is None else values
    return write_submission(data, counted_rows() if samples is None else samples, found, folder)


FIGURES: tuple[dict[str, str], ...] = (
    {"figure": "plain", "what": "loop without tracer", "printed": "2 s", "value": "2", "unit": "s"},
    {"figure": "traced", "what": "loop with tracer", "printed": "3 s", "value": "3", "unit": "s"},
    {"figure": "calls", "what": "calls", "printed": "1 000 000", "value": "1000000", "unit": "count"},
    {
        "figure": "cost",
        "what": "added time per call",
        "value": "1000",
        "unit": "ns",
        "case": "02-kprobe",
        "tracer": "dtrace",
        "cost_ns": "1000",
        "cost_from": "derived",
        "formula": "(traced - plain) / calls",
        "grade": "SD",
    },
    {
        "figure": "printed_cost",
        "what": "added time per call, as printed",
        "printed": "2.5 us",
        "value": "2.5",
        "unit": "us",
        "case": "02-kprobe",
        "tracer": "dtrace",
        "cost_ns": "2500",
        "cost_from": "printed",
        "formula": "(traced - plain) / calls",
    },
)

SOURCE_VALUES: dict[str, str] = {
    "title": "A talk about tracing",
    "author": "A. Author",
    "date": "2023-05-19",
    "kind": "talk",
    "where": "a conference",
    "read": "full",
    "grade": "S",
    "hardware": "one laptop",
    "os": "not stated",
    "tool_versions": "not stated",
    "workload": "a loop",
    "method": "two runs",
    "statistic": "one run per arm",
    "repeats": "1",
    "summary": "One call costs {cost} more.",
}

FINDING = {
    "id": "cost-does-not-follow",
    "agrees_if": "abs(printed_cost - cost) <= 10",
    "sentence": "It prints {printed_cost} where its run times give {cost}.",
}


def figures_csv(rows: Iterable[Mapping[str, str]] = FIGURES) -> str:
    """A `figures.csv` with what every row needs filled in."""
    names = [column.name for column in FIGURE_COLUMNS]
    filled = ({"group": "Runs", "grade": "S"} | dict(row) for row in rows)
    return "".join([csv_line(names), *(csv_line(row.get(name) for name in names) for row in filled)])


def source_toml(findings: Sequence[Mapping[str, str]] = (FINDING,), **changes: str) -> str:
    """A `source.toml`; TOML's basic strings are JSON's."""
    lines = ["schema_version = 1"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in (SOURCE_VALUES | changes).items()]
    lines += ['remarks = ["Look at the page itself."]']
    for finding in findings:
        lines += ["", "[[findings]]", *(f"{key} = {json.dumps(value)}" for key, value in finding.items())]
    return "\n".join(lines) + "\n"


def write_source(
    data: Path,
    rows: Iterable[Mapping[str, str]] = FIGURES,
    findings: Sequence[Mapping[str, str]] = (FINDING,),
    name: str = "a-talk",
    **changes: str,
) -> Path:
    """A published source under `data`; its folder."""
    folder = data / "published" / name
    folder.mkdir(parents=True)
    (folder / "source.toml").write_text(source_toml(findings, **changes), encoding="utf-8")
    (folder / "figures.csv").write_text(figures_csv(rows), encoding="utf-8")
    return folder


INSTEAD = re.compile(r"^instead = \[\n(?:  .*\n)*\]\n", re.MULTILINE)


def copy_suite(data: Path) -> Path:
    """The suite `per-event` under `data`, with the header that workloads share; its folder.

    What its cases could be replaced by is left out, because most of that is in other suites.
    """
    folder = data / "suites" / "per-event"
    shutil.copytree(REAL_DATA / "suites" / "per-event", folder)
    shutil.copyfile(REAL_DATA / "suites" / "loop.h", data / "suites" / "loop.h")
    suite = folder / "suite.toml"
    suite.write_text(INSTEAD.sub("", suite.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


def write_data(folder: Path) -> Path:
    """A whole small data folder: one suite, one submission, one source."""
    data = folder / "data"
    copy_suite(data)
    write_submission(data, _with_skipped(many_blocks()))
    write_source(data)
    return data


def _with_skipped(samples: Sequence[Sample]) -> list[Sample]:
    """`samples` with a skipped case at the end of block 0."""
    return sorted([*samples, skipped_row(3)], key=lambda row: (row.block, row.position))


def rules(problems: Iterable[Problem]) -> set[str]:
    """The rule of each problem."""
    return {problem.rule for problem in problems}


def strings_of(value: object) -> Iterator[str]:
    """Every string anywhere in JSON values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for child in value.values():
            yield from strings_of(child)
    elif isinstance(value, list | tuple):
        for child in value:
            yield from strings_of(child)


def picture_size(picture: bytes) -> tuple[int, int]:
    """Width and height of a PNG in dots, as its first chunk has them."""
    width, height = struct.unpack_from(">II", picture, 16)
    return width, height


def json_rows(text: str) -> list[dict[str, object]]:
    """The rows of a table that the site publishes as JSON, each cell by its column."""
    document = json.loads(text)
    names = [column["name"] for column in document["columns"]]
    return [dict(zip(names, row, strict=True)) for row in document["rows"]]
