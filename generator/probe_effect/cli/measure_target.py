"""Where `probe-effect measure` measures, on this machine or in an emulated one, and the source tree that it builds."""

import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from probe_effect.cli import output
from probe_effect.cli.measure_display import tell
from probe_effect.cli.measure_settings import MeasureOptions, kernel_word, machine_words
from probe_effect.compilers import MACHINE, own_cache
from probe_effect.emulated.anatomy import PathRecorder
from probe_effect.emulated.architecture import ARCHITECTURES
from probe_effect.emulated.assembly import assemble
from probe_effect.emulated.debian import locked
from probe_effect.emulated.kernel import find_kernel
from probe_effect.emulated.qemu import CPUS, KvmUnusable, trouble
from probe_effect.emulated.testbed import PATIENCE, EmulatedMachine
from probe_effect.emulated.tracers import fetched, offered, wanted
from probe_effect.errors import HostNotReady, UsageError
from probe_effect.measure.request import BUILDERS, Work
from probe_effect.measure.submission import cut_short, read_unfinished
from probe_effect.measure.testbed import Testbed
from probe_effect.measure.tree import Tree, kernel_build, named_tree
from probe_effect.store.suite_file import Suite
from probe_effect.tracers.protocol import Tracer
from probe_effect.tracers.tool import known_tracers, with_paths

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
    """The target that was asked for, put together and taken apart. Raises: UsageError, HostNotReady."""
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
    named = machine_words(kernel_word(kernel_words), options)
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
        TemporaryDirectory(prefix="probe-effect-paths-") as recorded,
        EmulatedMachine(assembly, tracers, tell, accelerator, PATIENCE[accelerator]) as machine,
    ):
        machine.recorder = PathRecorder(architecture.machine, tell, Path(recorded)) if options["paths"] else None
        output.say(f"booting {kernel.origin}")
        known = machine.tracers()
        yield MeasurementTarget(machine, suites, known, list(known) if words else [], CPUS)


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
        if not needs:
            able.append((folder, suite))
            continue
        reason = f"suite {suite.id} cannot run in an emulated machine: it needs {', '.join(needs)}"
        if are_named:
            raise HostNotReady(reason)
        output.say(f"left out: {reason}")
    return able


def _words_of_unfinished(machine: Sequence[str], results: Path) -> list[str]:
    """The tracers of the runs cut short on the machine that these words name. Raises: UsageError when there is none."""
    commands = [read_unfinished(place).document.run.command for place in cut_short(results)]
    ours = [command for command in commands if _is_on(command, machine)]
    if not ours:
        raise UsageError(f"{results}: no run with {' '.join(machine)} was cut short; start one without --resume")
    pairs = (pair for command in ours for pair in pairwise(command))
    return list(dict.fromkeys(word for option, word in pairs if option == "--tracer"))


def _is_on(command: Sequence[str], machine: Sequence[str]) -> bool:
    """Whether a command names the machine by these words, and by no further ones."""
    named = [word for pair in pairwise(command) if pair[0] in {"--vm", "--arch", "--vm-accel"} for word in pair]
    return named == list(machine)


def without_builds(suites: Sequence[tuple[Path, Suite]]) -> list[tuple[Path, Suite]]:
    """The suites that build nothing: what takes long, and is fetched, is measured only where somebody names it."""
    for _, suite in suites:
        if suite.workload.project is not None:
            output.say(f"left out: suite {suite.id} builds a project, which takes long; name it to measure it")
    return [one for one in suites if one[1].workload.project is None]


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
