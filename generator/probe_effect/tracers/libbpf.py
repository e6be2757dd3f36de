"""libbpf (Linux, eBPF): a BPF program compiled beforehand, and a loader that does nothing else: the lower bound.

What a tracer built on BPF costs beyond this, it adds itself. The loader (`libbpf-loader.c`) prints `ready N` when the
kernel has made all links of its programs, at N places together (bpf(2), BPF_LINK_CREATE; libbpf's
`bpf_program__attach`), so that line is the proof. Events of which the kernel says that it left the program out are lost
(`recursion_misses` of `bpf_prog_info`, since Linux 5.12), as are those that a program says it dropped, because its
buffer was full.

Where nothing can be compiled, as in an emulated machine, `prebuild` has made everything on another one.
"""

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from probe_effect.host import read_text
from probe_effect.host.compilers import MACHINE, Compiler, Sysroot, c_compiler, compiled
from probe_effect.host.kernel import tracefs_missing
from probe_effect.model import ProbeEffectError
from probe_effect.tracers.protocol import Counting, Tracer, TracerFailed
from probe_effect.tracers.tool import ToolSession, absent, not_root, text_of, version_line

HERE = Path(__file__).resolve().parent
LOADER = HERE / "libbpf-loader.c"
INCLUDE = HERE / "probe.bpf.h"

LIBRARY = "usr/include/bpf/libbpf.h"
INSTALL = "on Debian and Ubuntu: apt install clang gcc libbpf-dev"

CLANG = "clang"
ARCHITECTURES = {"x86_64": "x86", "aarch64": "arm64", "ppc64le": "powerpc", "riscv64": "riscv", "s390x": "s390"}
"""The kernel's names of processors to those that libbpf's headers ask for (bpf_tracing.h)."""

PREBUILT_LOADER = "libbpf-loader"
PREBUILT_COMPILER = "compiler"  # a line of text: what compiled the programs


@dataclass(frozen=True, slots=True)
class Libbpf(Tracer):
    """The tracer.

    `cache` is where compiled programs are kept, and `prebuilt` is a folder that `prebuild` made, from which everything
    is taken where it is given.
    """

    cache: Path | None = None
    prebuilt: Path | None = None
    id: str = "libbpf"
    tool: str = "libbpf"

    def available(self) -> str | None:
        reason = absent("cc", INSTALL) or absent(CLANG, INSTALL) if self.prebuilt is None else None
        if not reason and self.prebuilt is None and not (self.root / LIBRARY).is_file():
            reason = f"libbpf's headers are not installed: no /{LIBRARY}; {INSTALL}"
        return reason or not_root("libbpf") or tracefs_missing(self.root)

    def version(self) -> str | None:
        """The version of the library, and of the compiler; None when the loader cannot be made, or does not run."""
        try:
            library = version_line(str(self.loader()))
        except ProbeEffectError:
            return None
        compiler = read_text(self.prebuilt, PREBUILT_COMPILER) if self.prebuilt else version_line(CLANG)
        return f"{library}, {compiler}" if library and compiler else library

    def session(self, script: Path, counting: Counting, program: Path) -> "LibbpfSession":
        try:
            return LibbpfSession(str(self.loader()), self._object(script), counting, program)
        except ProbeEffectError as error:
            raise TracerFailed(str(error)) from error

    def loader(self) -> Path:
        """The compiled loader. Raises: HostNotReady without a compiler; ProbeEffectError when it refuses."""
        return self.prebuilt / PREBUILT_LOADER if self.prebuilt else _loader(self.cache)

    def _object(self, script: Path) -> Path:
        if self.prebuilt is None:
            return _object(script, self.cache)
        path = self.prebuilt / _prebuilt_name(script)
        if not path.is_file():
            raise TracerFailed(f"{path} is absent: it was to be made of {script.name} beforehand")
        return path


def prebuild(scripts: Iterable[Path], folder: Path, cache: Path | None = None, system: Sysroot | None = None) -> None:
    """Fill `folder` with all that `Libbpf(prebuilt=folder)` asks for on a machine that can compile nothing.

    It is made where it is absent, and has the loader, the compiler's account of itself, and a folder for each suite,
    whose `.bpf.c` files the scripts are. All is for `system`, with the headers of its C library and of libbpf; else for
    this one.
    Raises: HostNotReady without a compiler; ProbeEffectError with its words when it refuses a source.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy2(_loader(cache, system), folder / PREBUILT_LOADER)
    for script in scripts:
        path = folder / _prebuilt_name(script)
        path.parent.mkdir(exist_ok=True)
        shutil.copy2(_object(script, cache, system), path)
    (folder / PREBUILT_COMPILER).write_text(f"{version_line(CLANG)}\n", encoding="utf-8")


def _prebuilt_name(script: Path) -> str:
    """`per-event/02-kprobe.bpf.o`: two suites may have a case of one name."""
    return f"{script.parent.name}/{script.stem}.o"


def _loader(cache: Path | None, system: Sysroot | None = None) -> Path:
    compiler = c_compiler(("-O2", "-std=c11", "-Wall", "-Wextra"), ("-lbpf",), system)
    return compiled(LOADER, compiler, "tracers/libbpf-loader", cache).path


def _object(script: Path, cache: Path | None, system: Sysroot | None = None) -> Path:
    headers = [INCLUDE, *script.parent.parent.glob("*/*.bpf.h")]
    return compiled(script, bpf_compiler(system), f"bpf/{script.stem}.o", cache, headers).path


def bpf_compiler(system: Sysroot | None = None) -> Compiler:
    machine = system.machine if system else MACHINE
    return Compiler(
        # libbpf wants the types of maps, which -g writes. Debian keeps <asm/types.h> in the processor's own folder.
        command=(
            *(CLANG, "-O2", "-g", "-target", "bpf", "-Wall", f"-D__TARGET_ARCH_{ARCHITECTURES.get(machine, machine)}"),
            *("-I", str(HERE), "-iwithsysroot", f"/usr/include/{machine}-linux-gnu", "-c"),
        ),
        absent=f"clang is not installed; {INSTALL}",
        system=system,
    )


class LibbpfSession(ToolSession):
    """One loader at work; its script is the compiled BPF program."""

    name = "libbpf"

    def command(self, pid: int) -> Sequence[str]:
        """The command; its probes fire for every process, but some programs count the events of the workload alone."""
        return (self.tool, str(self.script), str(pid))

    def is_live(self) -> bool:
        return text_of(self.work.out).startswith("ready ")

    def count(self) -> tuple[int | None, int | None]:
        counts = json.loads(text_of(self.work.out).splitlines()[-1])
        return counts["seen"], counts["lost"]

    def probes(self) -> int | None:
        return int(text_of(self.work.out).partition("\n")[0].removeprefix("ready "))
