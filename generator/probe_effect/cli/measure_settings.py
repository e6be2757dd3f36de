"""How to measure, as the command line has it, and the historical experiments that `lab` repeats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from probe_effect.emulated.architecture import DEFAULT
from probe_effect.emulated.qemu import Accelerator
from probe_effect.measure.calibrate import COUNTED, COUNTED_QUICK, QUICK, THOROUGH, Lengths
from probe_effect.toml import beside

if TYPE_CHECKING:
    from probe_effect.store.machine_file import Author


@dataclass(frozen=True, slots=True, kw_only=True)
class Laboratory:
    """An experiment: the cases of one suite that make it, and the tracers that they need."""

    question: str
    suite: str
    cases: Sequence[str]
    tracers: Sequence[str]
    printed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Case to the published figures to put beside it, `<source>.<figure>`."""
    next: Sequence[tuple[str, str]] = ()
    """What to try when it is done, and the command that does."""


LABORATORIES = {name: Laboratory(**table) for name, table in beside(__file__, "laboratories").items()}
"""Each by its name."""


BLOCKS = 20
QUICK_BLOCKS = 6
"""Fewest blocks that carry a 95 % interval."""

VM_BLOCKS = 5
VM_QUICK_BLOCKS = 3
"""Instructions hardly vary: a median and a range are what is wanted of them."""


class MeasureOptions(TypedDict):
    """What is measured and how. Of suites, tracers and cases none means all."""

    suites: Sequence[str]
    tracers: Sequence[str]
    cases: Sequence[str]
    blocks: int | None
    quick: bool
    seed: int | None
    resume: bool
    dry_run: bool
    source: Path | None
    vm: str | None
    architecture: str
    accelerator: Accelerator
    paths: bool
    name: str | None
    url: str | None
    author: "Author"
    fleet_name: str | None
    calibrate: bool


def counts(options: MeasureOptions) -> bool:
    """Whether instructions are to be counted."""
    return options["vm"] is not None and options["accelerator"] == "tcg"


def default_blocks(options: MeasureOptions) -> int:
    """How many rounds, where nobody says."""
    if counts(options):
        return VM_QUICK_BLOCKS if options["quick"] else VM_BLOCKS
    return QUICK_BLOCKS if options["quick"] else BLOCKS


def lengths(*, quick: bool, counted: bool) -> Lengths:
    """How long runs are."""
    if counted:
        return COUNTED_QUICK if quick else COUNTED
    return QUICK if quick else THOROUGH


def command_words(suite: str, options: MeasureOptions, seed: int) -> tuple[str, ...]:
    """The command that repeats this run. Folders and credits stay out: they can hold user names."""
    vm, blocks = options["vm"], options["blocks"]
    words = ["probe-effect", "measure", suite]
    words += ["--source", "DIR"] if options["source"] else []
    words += machine_words(kernel_word(vm), options) if vm else []
    for tracer in options["tracers"]:
        words += ["--tracer", tracer if vm else _without_folder(tracer)]
    words += [word for case in options["cases"] for word in ("--case", case)]
    words += [] if options["calibrate"] else ["--no-calibrate"]
    words += ["--quick"] if options["quick"] else []
    words += ["--blocks", str(blocks)] if blocks else []
    return (*words, "--seed", str(seed))


def machine_words(kernel: str, options: MeasureOptions) -> list[str]:
    """The words that ask for an emulated machine."""
    architecture, accelerator = options["architecture"], options["accelerator"]
    words = ["--vm", kernel, *([] if architecture == DEFAULT.debian else ["--arch", architecture])]
    words += [] if accelerator == "tcg" else ["--vm-accel", accelerator]
    return words + (["--paths"] if options["paths"] else [])


def kernel_word(vm: str) -> str:
    """How a record names the kernel that was asked for: an image without its folder, which can hold a user's name."""
    return Path(vm).name


def _without_folder(tracer: str) -> str:
    """`bpftrace=bpftrace` for `bpftrace=/home/me/bin/bpftrace`."""
    name, has_path, path = tracer.partition("=")
    return f"{name}={Path(path).name}" if has_path else name
