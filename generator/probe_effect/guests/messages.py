"""Messages between host and guest: one JSON object per line, a request and its answer at a time."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from probe_effect.host.workloads import WorkloadTask
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask
from probe_effect.model import Key

Message = dict[str, Any]
PLACE = "/probe-effect"  # our folder in the guest

LIBRARY, SUITES, WORKLOADS, PREBUILT, CONFIG = (
    f"{PLACE}/{name}" for name in ("python", "suites", "workloads", "prebuilt", "boot")
)


def encode(message: Message) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Message | None:
    """The object of a line; None for anything else, because a kernel may print anything to a serial line."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def in_guest(script: Path) -> str:
    return f"{SUITES}/{script.parent.name}/{script.name}"


def load_message(load: WorkloadTask) -> Message:
    return asdict(load) | {"program": f"{WORKLOADS}/{load.program.name}"}


def load_of(message: Message) -> WorkloadTask:
    return WorkloadTask(**message | {"program": Path(message["program"])})


def run_request(
    planned: PlannedRun, load: WorkloadTask, watch: TracerTask | None, limits: Limits, *, looking: bool = False
) -> Message:
    """A run to make, and whether to look afterwards how the kernel had made its kprobes: that fires probes itself."""
    return {
        "do": "run",
        "looking": looking,
        "planned": asdict(planned),
        "load": load_message(load),
        "watch": watch and asdict(watch) | {"tracer": watch.tracer.id, "script": in_guest(watch.script)},
        "limits": asdict(limits),
    }


def planned_of(message: Message) -> PlannedRun:
    return PlannedRun(**message | {"subject": Key(*message["subject"])})
