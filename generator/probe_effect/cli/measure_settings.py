"""How to measure, from the command line's options and from what an unfinished run has of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from probe_effect.measure.calibrate import COUNTED, COUNTED_QUICK, QUICK, THOROUGH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.cli.measure_target import Request
    from probe_effect.measure.bench import Settings
    from probe_effect.measure.calibrate import Lengths
    from probe_effect.measure.submission import OpenSubmission

BLOCKS = 20
QUICK_BLOCKS = 6
"""Fewest blocks that carry a 95 % interval."""

VM_BLOCKS = 5
VM_QUICK_BLOCKS = 3
"""Instructions hardly vary: a median and a range are what is wanted of them."""


def default_blocks(*, quick: bool, vm: str | None) -> int:
    """How many rounds, where nobody says."""
    if vm:
        return VM_QUICK_BLOCKS if quick else VM_BLOCKS
    return QUICK_BLOCKS if quick else BLOCKS


def lengths(*, quick: bool, vm: bool) -> Lengths:
    """How long runs are."""
    if vm:
        return COUNTED_QUICK if quick else COUNTED
    return QUICK if quick else THOROUGH


def settings_of(one: OpenSubmission, results: Path) -> Settings:
    """The settings with which an unfinished run was begun."""
    from probe_effect.measure.bench import Settings

    run = one.document.run
    made = lengths(quick=one.plan.is_quick, vm="--vm" in run.command)
    return Settings(results=results, blocks=run.blocks, seed=run.seed, command=run.command, lengths=made)


def command_words(
    suite: str, request: Request, cases: Sequence[str], blocks: int | None, *, quick: bool, seed: int
) -> tuple[str, ...]:
    """The command that repeats this run. Folders and credits stay out: they can hold user names."""
    words = ["probe-effect", "measure", suite]
    words += ["--vm", kernel_word(request.vm)] if request.vm else []
    words += ["--vm-accel", request.accelerator] if request.vm and request.accelerator != "tcg" else []
    for tracer in request.tracers:
        words += ["--tracer", tracer if request.vm else _without_folder(tracer)]
    words += [word for case in cases for word in ("--case", case)]
    words += ["--quick"] if quick else []
    words += ["--blocks", str(blocks)] if blocks else []
    return (*words, "--seed", str(seed))


def kernel_word(vm: str) -> str:
    """How a record names the kernel that was asked for: an image without its folder, which can hold a user's name."""
    return Path(vm).name


def _without_folder(tracer: str) -> str:
    """`bpftrace=bpftrace` for `bpftrace=/home/me/bin/bpftrace`."""
    name, has_path, path = tracer.partition("=")
    return f"{name}={Path(path).name}" if has_path else name
