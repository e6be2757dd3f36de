"""libbpf (Linux, eBPF): a BPF program compiled beforehand, and a loader that does nothing else: the lower bound.

What a tracer built on BPF costs beyond this, it adds itself. The loader (`libbpf-loader.c`) prints `ready N` when the
kernel has made a link for each of its N programs (bpf(2), BPF_LINK_CREATE; libbpf's `bpf_program__attach`), so that
line is the proof. Events of which the kernel says that it left the program out are lost (`recursion_misses` of
`bpf_prog_info`, since Linux 5.12).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from probe_effect.compilers import Compiler, compiled
from probe_effect.errors import ProbeEffectError
from probe_effect.host import ROOT
from probe_effect.tracers.kernel import missing, tracefs_missing
from probe_effect.tracers.protocol import TracerFailed
from probe_effect.tracers.tool import ToolSession, absent, version_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.store.suite_file import Need
    from probe_effect.tracers.protocol import Counting

HERE = Path(__file__).resolve().parent
LOADER = HERE / "libbpf-loader.c"
INCLUDE = HERE / "probe.bpf.h"

LIBRARY = "usr/include/bpf/libbpf.h"
INSTALL = "on Debian and Ubuntu: apt install clang gcc libbpf-dev"

MACHINE = os.uname().machine
ARCHITECTURES = {"x86_64": "x86", "aarch64": "arm64", "ppc64le": "powerpc", "riscv64": "riscv", "s390x": "s390"}
"""The kernel's names of processors to those that libbpf's headers ask for (bpf_tracing.h)."""

LOADER_COMPILER = Compiler(
    command=("cc", "-O2", "-std=c11", "-Wall", "-Wextra"),
    link=("-lbpf",),
    absent=f"cc is not installed; {INSTALL}",
)
BPF_COMPILER = Compiler(
    # libbpf wants the types of maps, which -g writes. Debian keeps <asm/types.h> in the processor's own folder.
    command=(
        *("clang", "-O2", "-g", "-target", "bpf", "-Wall", f"-D__TARGET_ARCH_{ARCHITECTURES.get(MACHINE, MACHINE)}"),
        *("-I", str(HERE), "-idirafter", f"/usr/include/{MACHINE}-linux-gnu", "-c"),
    ),
    absent=f"clang is not installed; {INSTALL}",
)


@dataclass(frozen=True, slots=True)
class Libbpf:
    """The tracer; `cache` is where compiled programs are kept, `root` is where it looks for the system's files."""

    cache: Path | None = None
    root: Path = ROOT
    id: str = "libbpf"
    tool: str = "libbpf"

    def available(self) -> str | None:
        """None when it can run here, else why not and what to do."""
        if reason := absent("cc", INSTALL) or absent("clang", INSTALL):
            return reason
        if not (self.root / LIBRARY).is_file():
            return f"libbpf's headers are not installed: no /{LIBRARY}; {INSTALL}"
        if os.geteuid() != 0:
            return "libbpf needs root; run this command with sudo"
        return tracefs_missing(self.root)

    def version(self) -> str | None:
        """The version of the library, and of the compiler; None when the loader cannot be made."""
        try:
            library = version_line(str(self.loader()))
        except ProbeEffectError:
            return None
        compiler = version_line(BPF_COMPILER.command[0])
        return f"{library}, {compiler}" if library and compiler else library

    def missing(self, need: Need) -> str | None:
        """None when the kernel offers `need`, else why not."""
        return missing(need, self.root)

    def session(self, script: Path, counting: Counting, program: Path) -> LibbpfSession:
        """One run of the BPF program `script`. Raises: TracerFailed with the compiler's words when it refuses it."""
        try:
            compiled_script = compiled(script, BPF_COMPILER, f"bpf/{script.stem}.o", self.cache, [INCLUDE])
            return LibbpfSession((self.loader(), compiled_script.path), counting, program)
        except ProbeEffectError as error:
            raise TracerFailed(str(error)) from error

    def loader(self) -> Path:
        """The compiled loader. Raises: HostNotReady without a compiler; ProbeEffectError when it refuses."""
        return compiled(LOADER, LOADER_COMPILER, "tracers/libbpf-loader", self.cache).path


class LibbpfSession(ToolSession):
    """One loader at work."""

    name = "libbpf"

    def __init__(self, words: Sequence[Path], counting: Counting, program: Path) -> None:
        super().__init__(program)
        self._words, self._counting = words, counting

    def command(self, pid: int) -> Sequence[str]:
        """The command; its probes fire for every process, as those of most tools do."""
        del pid
        return [str(word) for word in self._words]

    def is_live(self) -> bool:
        """Whether the loader has said that all its programs are attached."""
        return self._text().startswith("ready ")

    def count(self) -> tuple[int | None, int | None]:
        """(events seen, events lost), from its last line."""
        if self._counting == "nothing":
            return None, None
        counts = json.loads(self._text().splitlines()[-1])
        return counts["seen"], counts["lost"]

    def _text(self) -> str:
        """What the loader has printed so far."""
        return self.work.out.read_text(encoding="utf-8")
