"""SystemTap (Linux), by its runtime that loads BPF programs (`stap --runtime=bpf`).

Its first runtime, a kernel module that it compiles, is not used here: a module of one's own is no thing to load where
others measure too, and a kernel may take none. Both runtimes want the kernel's build tree.

How it is known that the probes are live: SystemTap prints a line of ours from a `begin` probe once every probe is
registered. What it does then is to enable them and to sleep until a signal comes (`main` of bpf/stapbpf.cxx in
SystemTap's source). So they are live when that line is there and its program `stapbpf` sleeps.

A script prints `events N` at its end. This runtime keeps its counts in BPF maps, and says nothing of events that the
kernel may have left out. It does not raise the semaphores of static user probes.
"""

import os
import re
import resource
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from probe_effect.host import kernel, kernel_config, read_text
from probe_effect.host.processes import CAP_SYS_RESOURCE, children, has_capability, status
from probe_effect.model import Need
from probe_effect.tracers.tool import Tool, ToolSession, not_root, text_of

LOADER = "stapbpf"
LIVE = "__PROBE_EFFECT_LIVE"
PROOF = f'probe begin {{ println("{LIVE}") }}'


def build_tree(root: Path) -> Path:
    """The kernel's build tree, as the headers of a distribution's kernel bring it."""
    release = read_text(root, "proc/sys/kernel/osrelease") or os.uname().release
    return root / "lib/modules" / release / "build"


class SystemtapSession(ToolSession):
    """One SystemTap at work."""

    name = "systemtap"
    complains_in = ("err",)

    def command(self, pid: int) -> Sequence[str]:
        how = ("--runtime=bpf", "-r", str(build_tree(self.root)), "-E", PROOF)
        return (self.tool, *how, str(self.script.absolute()))

    def environment(self) -> dict[str, str]:
        """Have it keep its files with ours, not in the user's home."""
        return {"SYSTEMTAP_DIR": str(self.work.path), "TMPDIR": str(self.work.path)}

    def is_live(self) -> bool:
        if self.child is None or LIVE not in text_of(self.work.out):
            return False
        programs = [status(child) for child in children(self.child.pid)]
        return any(program.get("Name") == LOADER and program["State"].startswith("S") for program in programs)

    def count(self) -> tuple[int | None, int | None]:
        counts = re.findall(r"^events (\d+)$", text_of(self.work.out), re.MULTILINE)
        if not counts:
            raise ValueError("expected a line `events N` from the script's end probe")
        return sum(map(int, counts)), None


@dataclass(frozen=True, slots=True)
class Systemtap(Tool):
    """The tracer."""

    program: str = "stap"
    id: str = "systemtap"
    tool: str = "systemtap"
    sessions = SystemtapSession

    def available(self) -> str | None:
        """None when it can run here, else every reason why not and what to do."""
        if reason := self.absent(self.program, LOADER) or not_root("SystemTap"):
            return reason
        return "; ".join(filter(None, (self._no_tree(), self._no_memory()))) or None

    def missing(self, need: Need) -> str | None:
        if need in kernel.ON_FTRACE:
            return f"SystemTap's BPF runtime has no {need}"
        return kernel.missing(need, self.root)

    def _no_tree(self) -> str | None:
        config_file = build_tree(self.root) / ".config"
        if config_file.is_file():
            return None
        config = kernel_config(self.root)
        has_none = config is not None and config.get("MODULES", "n") == "n"
        advice = (
            "CONFIG_MODULES is not set either, so it is no kernel for which a distribution has headers"
            if has_none
            else "on Debian and Ubuntu: apt install linux-headers-$(uname -r)"
        )
        return f"SystemTap wants the kernel's build tree, and there is no {config_file}; {advice}"

    def _no_memory(self) -> str | None:
        """None when stapbpf can lift the limit of locked memory; it ends when it cannot, whatever the kernel needs."""
        _, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
        if hard == resource.RLIM_INFINITY or has_capability(CAP_SYS_RESOURCE, self.root):
            return None
        return (
            f"{LOADER} lifts the limit of locked memory, and may not here: it is {hard} bytes, and CAP_SYS_RESOURCE is "
            "missing; start from a shell with `ulimit -l unlimited`"
        )
