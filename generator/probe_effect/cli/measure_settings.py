"""How and where to measure, as the command line has it: settings, laboratories, the machine, the tree to build."""

import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypedDict

from probe_effect.cli import output
from probe_effect.cli.output import tell
from probe_effect.guests.anatomy import PathRecorder
from probe_effect.guests.assembly import assemble, fetched, offered, wanted
from probe_effect.guests.debian import ARCHITECTURES, DEFAULT, find_kernel, locked
from probe_effect.guests.qemu import CPUS, MODES, Accelerator, KvmUnusable, trouble
from probe_effect.guests.testbed import EmulatedMachine
from probe_effect.host.compilers import MACHINE, own_cache
from probe_effect.host.processes import WORK_PREFIX
from probe_effect.host.workloads import Tree, kernel_build, named_tree
from probe_effect.measure.request import BUILDERS, COUNTED, COUNTED_QUICK, QUICK, THOROUGH, Lengths, Work
from probe_effect.measure.submission import cut_short, read_unfinished
from probe_effect.measure.testbed import Testbed
from probe_effect.model import HostNotReady, UsageError
from probe_effect.records import beside
from probe_effect.store.suite_file import Suite
from probe_effect.tracers.protocol import Tracer
from probe_effect.tracers.tool import known_tracers, with_paths

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
    anyway: bool


def counts(options: MeasureOptions) -> bool:
    return options["vm"] is not None and options["accelerator"] == "tcg"


def blocks_of(options: MeasureOptions) -> int:
    usual = (VM_BLOCKS, VM_QUICK_BLOCKS) if counts(options) else (BLOCKS, QUICK_BLOCKS)
    return options["blocks"] or usual[options["quick"]]


def lengths(*, quick: bool, counted: bool) -> Lengths:
    return ((THOROUGH, QUICK), (COUNTED, COUNTED_QUICK))[counted][quick]


def command_words(suite: str, options: MeasureOptions, seed: int) -> tuple[str, ...]:
    """The command that repeats this run. Folders and credits stay out: they can hold user names."""
    vm, blocks = options["vm"], options["blocks"]
    words = ["probe-effect", "measure", suite]
    words += ["--source", "DIR"] if options["source"] else []
    words += machine_words(Path(vm).name, options) if vm else []
    for tracer in options["tracers"]:
        name, has_path, path = tracer.partition("=")
        words += ["--tracer", f"{name}={Path(path).name}" if has_path and not vm else tracer]
    words += [word for case in options["cases"] for word in ("--case", case)]
    words += [] if options["calibrate"] else ["--no-calibrate"]
    words += ["--anyway"] if options["anyway"] else []
    words += ["--quick"] if options["quick"] else []
    words += ["--blocks", str(blocks)] if blocks else []
    return (*words, "--seed", str(seed))


def machine_words(kernel: str, options: MeasureOptions) -> list[str]:
    """The words that ask for an emulated machine; in a record an image is without its folder."""
    architecture, accelerator = options["architecture"], options["accelerator"]
    words = ["--vm", kernel]
    words += [] if architecture == DEFAULT.debian else ["--arch", architecture]
    words += [] if accelerator == "tcg" else ["--vm-accel", accelerator]
    return words + (["--paths"] if options["paths"] else [])


CACHE = "emulated"


@dataclass(frozen=True, slots=True)
class MeasurementTarget:
    """The testbed, and what can be asked of it."""

    testbed: Testbed
    suites: Sequence[tuple[Path, Suite]]
    known: Mapping[str, Tracer]
    names: Sequence[str]
    """Ids of the tracers to measure with, where any was named; none: all that can run."""
    cpus: int | None = None
    """How many it has; None: as many as we may use."""


@contextmanager
def target(suites: Sequence[tuple[Path, Suite]], results: Path, options: MeasureOptions) -> Iterator[MeasurementTarget]:
    kernel_words, tracer_words, accelerator = options["vm"], options["tracers"], options["accelerator"]
    if kernel_words is None:
        yield MeasurementTarget(Testbed(), suites, *with_paths(known_tracers(), tracer_words))
        return
    architecture = ARCHITECTURES[options["architecture"]]
    if accelerator == "kvm" and architecture.machine != MACHINE:
        advice = "name its own by --arch, or leave it out"
        msg = f"--vm-accel kvm: this machine is {MACHINE}, and can only emulate {architecture.machine}; {advice}"
        raise UsageError(msg)
    if accelerator == "kvm" and (why := trouble()):
        raise KvmUnusable(why)
    named = machine_words(Path(kernel_words).name, options)
    words = _words_of_unfinished(named, results) if options["resume"] else tracer_words
    tracers = wanted(words) or offered([folder for folder, _ in suites], quick=options["quick"])
    if not tracers:
        names = ", ".join(suite.id for _, suite in suites) or "none"
        msg = f"no tracer that an emulated machine can have, or that this one can compile for, has scripts for: {names}"
        raise HostNotReady(msg)
    cache = own_cache(CACHE)
    output.say(f"putting together a machine for {architecture.debian} with the kernel {kernel_words}")
    with locked(cache):
        kernel = find_kernel(kernel_words, cache, architecture)
        works = [Work(folder, suite, {}, (), {}) for folder, suite in suites]
        assembly = assemble(architecture, kernel, tracers, works, cache, records=options["paths"])
    with (
        TemporaryDirectory(prefix=f"{WORK_PREFIX}{os.getpid()}-paths-") as recorded,
        EmulatedMachine(assembly, tracers, tell, accelerator, MODES[accelerator].boot_s) as machine,
    ):
        machine.recorder = PathRecorder(architecture.machine, tell, Path(recorded)) if options["paths"] else None
        output.say(f"booting {kernel.origin}")
        machine_tracers = machine.tracers()
        yield MeasurementTarget(machine, suites, machine_tracers, list(machine_tracers) if words else [], CPUS)


def emulable(
    suites: Iterable[tuple[Path, Suite]], *, are_named: bool, are_counted: bool = True
) -> list[tuple[Path, Suite]]:
    """The suites that can run in a guest: which has no library but C's and no program, and where it counts no time.

    Raises: HostNotReady where a suite that was named cannot.
    """
    able = []
    for folder, suite in suites:
        builders = BUILDERS if suite.workload.project else ()
        needs = dict.fromkeys([*suite.workload.libraries, *chain(*suite.workload.commands.values()), *builders])
        if suite.result_type.of_tracer and are_counted:
            needs = {"the time that a tool takes": None}
        reason = f"suite {suite.id} cannot run in an emulated machine: it needs {', '.join(needs)}"
        if not needs:
            able.append((folder, suite))
        elif are_named:
            raise HostNotReady(reason)
        else:
            output.say(f"left out: {reason}")
    return able


def _words_of_unfinished(machine: Sequence[str], results: Path) -> list[str]:
    """The tracers of the runs cut short on the machine that these words name. Raises: UsageError when there is none."""
    options = {"--vm", "--arch", "--vm-accel"}
    pairs = [list(pairwise(read_unfinished(folder).document.run.command)) for folder in cut_short(results)]
    ours = [own for own in pairs if [word for pair in own if pair[0] in options for word in pair] == list(machine)]
    if not ours:
        raise UsageError(f"{results}: no run with {' '.join(machine)} was cut short; start one without --resume")
    return list(dict.fromkeys(word for own in ours for option, word in own if option == "--tracer"))


def without_builds(suites: Sequence[tuple[Path, Suite]]) -> list[tuple[Path, Suite]]:
    """The suites that build nothing: what takes long, and is fetched, is measured only where somebody names it."""
    for _, suite in suites:
        if suite.workload.project is not None:
            output.say(f"left out: suite {suite.id} builds a project, which takes long; name it to measure it")
    return [pair for pair in suites if pair[1].workload.project is None]


def tree_named(source: Path | None, suites: Sequence[tuple[Path, Suite]]) -> Tree | None:
    """The source tree that was named, if one was. Raises: UsageError where there is none, or nothing builds it."""
    if source is None:
        return None
    if all(suite.workload.project is None for _, suite in suites):
        msg = f"--source {source}: no suite that was named builds a source tree; name one that does, or leave it out"
        raise UsageError(msg)
    return named_tree(source)


def with_tree(work: Work, named: Tree | None) -> Work:
    """The work with the tree that it builds: the one that was named, or its own. Raises: HostNotReady."""
    project = work.suite.workload.project
    if project is None:
        return work
    if named is None and platform.system() != "Linux":
        named = kernel_build(work.folder / "freebsd")
    return replace(work, tree=named or fetched(project, own_cache(), output.say))
