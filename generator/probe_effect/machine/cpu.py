"""Hardware: CPU, memory, and the settings of both."""

import os
from pathlib import Path

from probe_effect.host import read_text, sysctl
from probe_effect.toml import beside

CPU_FOLDER = "sys/devices/system/cpu"

NUMBERS = ("cpu family", "model", "stepping", "CPU implementer", "CPU variant", "CPU part", "CPU revision")
"""Keys of `/proc/cpuinfo` whose numbers distinguish CPUs of one name, on x86 and on Arm."""

CORES: dict[str, dict[str, dict[str, list[list[int]]]]] = beside(__file__, "cores")
"""Vendor and family, or `Arm` and implementer, to the name of each core and the ranges of its models or parts."""


def cpuinfo(root: Path) -> dict[str, str]:
    """The first processor of `/proc/cpuinfo`: key to value; empty when absent."""
    first = (read_text(root, "proc/cpuinfo") or "").split("\n\n", 1)[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs if value.strip()}


def cpu_model(root: Path) -> str | None:
    """The CPU's name as it reports it. Arm's kernels print numbers instead, which are better than no name."""
    info = cpuinfo(root)
    if name := info.get("model name"):
        return name
    implementer, part = info.get("CPU implementer"), info.get("CPU part")
    if implementer is None or part is None:
        return sysctl("hw.model")
    return microarchitecture(root) or f"implementer {implementer} part {part}"


def numbers(root: Path) -> dict[str, str]:
    """The CPU's family, model and stepping, or Arm's numbers, by their keys in `/proc/cpuinfo`; empty where absent."""
    info = cpuinfo(root)
    return {key: info[key] for key in NUMBERS if key in info}


def microarchitecture(root: Path) -> str | None:
    """The name of the CPU's core, `Zen 4`; None where the table does not have its numbers."""
    info = cpuinfo(root)
    family, model = ("cpu family", "model") if "vendor_id" in info else ("CPU implementer", "CPU part")
    cores = CORES.get(info.get("vendor_id", "Arm"), {}).get(info.get(family, ""), {})
    number = int(info.get(model, "-1"), 0) if cores else -1
    return next((name for name, ranges in cores.items() for low, high in ranges if low <= number <= high), None)


def signature(root: Path) -> tuple[str, ...]:
    """The CPU's numbers as the id of a machine has them, empty where absent."""
    found = numbers(root)
    return tuple(found.get(key, "") for key in NUMBERS)


def microcode(root: Path) -> str | None:
    """Microcode revision."""
    return cpuinfo(root).get("microcode")


def threads(root: Path) -> int:
    """Logical CPUs online."""
    online = read_text(root, f"{CPU_FOLDER}/online")
    return len(_numbered(online)) if online else os.cpu_count() or 1


def sockets(root: Path) -> int | None:
    """CPU sockets that the kernel sees."""
    return len({package for package, _ in _topology(root)}) or None


def cores(root: Path) -> int | None:
    """Physical cores over all sockets, as the kernel sees them."""
    return len(_topology(root)) or None


def smt(root: Path) -> bool | None:
    """Whether sibling threads share a core and are on."""
    active = read_text(root, f"{CPU_FOLDER}/smt/active")
    return None if active is None else active == "1"


def _topology(root: Path) -> set[tuple[str, str]]:
    """The socket and the core of every CPU online."""
    places = set()
    for folder in (root / CPU_FOLDER).glob("cpu[0-9]*/topology"):
        package, core = (read_text(folder, name) for name in ("physical_package_id", "core_id"))
        if package is not None and core is not None:
            places.add((package, core))
    return places


def memory_bytes(root: Path) -> int | None:
    """Memory that the kernel manages."""
    for line in (read_text(root, "proc/meminfo") or "").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    physical = sysctl("hw.physmem")
    return int(physical) if physical else None


def governor(root: Path) -> str | None:
    """CPU frequency governor, of all CPUs: `performance`, or `performance, powersave` when they differ."""
    texts = {
        read_text(path.parent, path.name) for path in (root / CPU_FOLDER).glob("cpu[0-9]*/cpufreq/scaling_governor")
    }
    return ", ".join(sorted(text for text in texts if text)) or None


def turbo(root: Path) -> bool | None:
    """Whether the CPU may exceed its base frequency."""
    off = read_text(root, f"{CPU_FOLDER}/intel_pstate/no_turbo")
    if off is not None:
        return off == "0"
    on = read_text(root, f"{CPU_FOLDER}/cpufreq/boost")
    return None if on is None else on == "1"


def throttles(root: Path) -> int:
    """How often cores were slowed for their heat since the machine started; 0 where no file says."""
    paths = (root / CPU_FOLDER).glob("cpu[0-9]*/thermal_throttle/core_throttle_count")
    return sum(int(read_text(path.parent, path.name) or 0) for path in paths)


def siblings(root: Path, cpu: int) -> frozenset[int]:
    """Logical CPUs that share a core with `cpu`, itself among them."""
    return _numbered(read_text(root, f"{CPU_FOLDER}/cpu{cpu}/topology/thread_siblings_list") or str(cpu))


def _numbered(text: str) -> frozenset[int]:
    """The numbers of a list such as `0-3,8` (Documentation/admin-guide/cputopology.rst)."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)
