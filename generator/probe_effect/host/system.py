"""Facts of hardware, kernel and clock, and the settings that change what a probe costs: a function for each fact.

A command line can hold host names, addresses and secrets, and so can build options: of both only those are recorded
that change what a probe costs, from fixed lists.
"""

import os
import platform
import re
import shutil
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from probe_effect.host import ROOT, kernel_config, read_text, run_program, sysctl
from probe_effect.records import beside

_RECORDED: dict[str, dict[str, list[str]]] = beside(__file__, "recorded")
BOOT_FLAGS = frozenset(chain.from_iterable(_RECORDED["boot_flags"].values()))
CONFIG_OPTIONS = tuple(chain.from_iterable(_RECORDED["options"].values()))

SAFE_VALUE = re.compile(r"[\w.,:+-]{1,80}")
"""Forms that a value may have: words, numbers and CPU lists; no paths, quotes or `@`."""

CLOCK_FOLDER = "sys/devices/system/clocksource/clocksource0"


def os_name(root: Path) -> str | None:
    """Distribution and its version, as `/etc/os-release` gives them, illumos's after its name; macOS by its version."""
    if platform.system() == "Darwin":
        return f"macOS {platform.mac_ver()[0]}".strip()
    for line in (read_text(root, "etc/os-release") or "").splitlines():
        key, _, value = line.partition("=")
        if key == "PRETTY_NAME":
            own = value.strip().strip("\"'")
            return f"illumos, {own}" if platform.system() == "SunOS" else own or None
    return None


def kernel_release(root: Path) -> str:
    return read_text(root, "proc/sys/kernel/osrelease") or os.uname().release


def architecture() -> str:
    return os.uname().machine


def boot_flags(root: Path) -> tuple[str, ...]:
    """Boot parameters that change probe cost, in their order; not those after `--`, which belong to init."""
    words = (read_text(root, "proc/cmdline") or "").partition(" -- ")[0].split()
    parts = ((word, *word.partition("=")) for word in words)
    return tuple(
        word
        for word, name, has_value, value in parts
        if name in BOOT_FLAGS and (not has_value or SAFE_VALUE.fullmatch(value))
    )


def kernel_options(root: Path) -> dict[str, str]:
    config = kernel_config(root) or {}
    return {f"CONFIG_{name}": config[name] for name in CONFIG_OPTIONS if name in config}


def vulnerabilities(root: Path) -> dict[str, str]:
    """The kernel's account of each CPU vulnerability, by its name."""
    folder = root / "sys/devices/system/cpu/vulnerabilities"
    texts = {path.name: read_text(folder, path.name) for path in sorted(folder.glob("*"))}
    return {name: " ".join(text.split()) for name, text in texts.items() if text}


def aslr(root: Path) -> str | None:
    """How the kernel lays out a program's memory: `off`, `partial` (all but the heap) or `full` randomisation.

    Source: randomize_va_space in Documentation/admin-guide/sysctl/kernel.rst.
    """
    value = read_text(root, "proc/sys/kernel/randomize_va_space")
    return {"0": "off", "1": "partial", "2": "full"}.get(value or "")


def clocksource(root: Path) -> str | None:
    """The kernel's clock source in use: `tsc`, `kvm-clock`, `hpet`."""
    return read_text(root, f"{CLOCK_FOLDER}/current_clocksource") or sysctl("kern.timecounter.hardware")


def offered_clocksources(root: Path) -> frozenset[str]:
    """Every clock source that the kernel has; some exist only under a certain hypervisor."""
    return frozenset((read_text(root, f"{CLOCK_FOLDER}/available_clocksource") or "").split())


CPU_FOLDER = "sys/devices/system/cpu"

NUMBERS = ("cpu family", "model", "stepping", "CPU implementer", "CPU variant", "CPU part", "CPU revision")
"""Keys of `/proc/cpuinfo` whose numbers distinguish CPUs of one name, on x86 and on Arm."""

FURTHER_NUMBERS = ("uarch", "mvendorid", "marchid", "mimpid", "isa", "revision", "machine", "CPU Revision")
"""Those of RISC-V, POWER, IBM Z and LoongArch. A machine without them has the id that it always had."""

NAMES_OF_CPU = ("model name", "Model Name", "cpu model", "uarch", "cpu")
"""Keys of the CPU's name: on x86, LoongArch, MIPS, RISC-V and POWER."""

NO_NUMBER = "unknown"  # what a hypervisor may print in place of a model or a stepping

IBM_Z = re.compile(r"\bmachine\s*[:=]\s*(\d{4})\b")
"""The type of an IBM Z machine; in the same line is a number of its own, which is not recorded."""

CORES: dict[str, Any] = beside(__file__, "cores")
"""Vendor and family, or `Arm` and implementer, to the name of each core and the ranges of its models or parts;
`flags` to the cores that have them."""


def processors(root: Path) -> dict[str, dict[str, str]]:
    """Each processor of `/proc/cpuinfo` by its number: key to value. Without a number there is one, called empty."""
    text = read_text(root, "proc/cpuinfo") or ""
    lines = ([line.partition(":") for line in block.splitlines()] for block in text.split("\n\n"))
    blocks = [{key.strip(): value.strip() for key, _, value in block if value.strip()} for block in lines]
    numbered_ones = {block["processor"]: block for block in blocks if "processor" in block}
    if numbered_ones:
        return numbered_ones
    machine = IBM_Z.search(text) if "IBM/S390" in blocks[0].get("vendor_id", "") else None
    return {"": blocks[0] | ({"machine": machine[1]} if machine else {})}


def cpuinfo(root: Path, cpu: int | None = None) -> dict[str, str]:
    """The processor of that number in `/proc/cpuinfo`, or the first one; empty when the file is absent."""
    infos = processors(root)
    return infos.get(str(cpu)) or next(iter(infos.values()))


def cpu_model(root: Path, cpu: int | None = None) -> str | None:
    """The CPU's name as it reports it. Arm's kernels print numbers instead, which are better than no name."""
    info = cpuinfo(root, cpu)
    if name := next((info[key] for key in NAMES_OF_CPU if key in info), None):
        return name.partition(", ")[0]  # POWER's has units after a comma and a blank; RISC-V's maker is before a comma
    if "machine" in info:
        return f"IBM Z {info['machine']}"
    if implementer := info.get("CPU implementer"):
        part = info.get("CPU part", NO_NUMBER)
        return microarchitecture(root, cpu) or f"implementer {implementer} part {part}"
    if vendor := info.get("mvendorid"):
        return f"RISC-V vendor {vendor} architecture {info.get('marchid', NO_NUMBER)}"
    return sysctl("hw.model")


def numbers(root: Path, cpu: int | None = None) -> dict[str, str]:
    """The CPU's family, model and stepping, or the numbers of other makers, by their keys in `/proc/cpuinfo`."""
    info = cpuinfo(root, cpu)
    return {key: info[key] for key in (*NUMBERS, *FURTHER_NUMBERS) if info.get(key, NO_NUMBER) != NO_NUMBER}


def microarchitecture(root: Path, cpu: int | None = None) -> str | None:
    """The name of the CPU's core, `Zen 4`; None where the table lacks its numbers, or they contradict its flags."""
    return core_name(cpuinfo(root, cpu))


def core_name(info: Mapping[str, str]) -> str | None:
    family, model = ("cpu family", "model") if "vendor_id" in info else ("CPU implementer", "CPU part")
    cores = CORES.get(info.get("vendor_id", "Arm"), {}).get(info.get(family, ""), {})
    try:
        number = int(info.get(model, ""), 0) if cores else -1
    except ValueError:
        number = -1
    shown = [CORES["flags"][flag] for flag in info.get("flags", "").split() if flag in CORES["flags"]]
    named = (name for name, ranges in cores.items() for low, high in ranges if low <= number <= high)
    return next((name for name in named if all(name in having for having in shown)), None)


def signature(root: Path, cpu: int | None = None) -> tuple[str, ...]:
    """The CPU's numbers as the id of a machine has them, empty where absent; those of other makers where present.

    The device tree's name distinguishes a board whose CPU has neither name nor number.
    """
    own = numbers(root, cpu)
    board = None if own or cpu_model(root, cpu) else read_text(root, "proc/device-tree/compatible")
    further = (*(own[key] for key in FURTHER_NUMBERS if key in own), *filter(None, [board]))
    return (*(own.get(key, "") for key in NUMBERS), *further)


def threads(root: Path) -> int:
    online = read_text(root, f"{CPU_FOLDER}/online")
    return len(numbered(online)) if online else os.cpu_count() or 1


def smt(root: Path) -> bool | None:
    active = read_text(root, f"{CPU_FOLDER}/smt/active")
    return None if active is None else active == "1"


def topology(root: Path) -> set[tuple[str, str]]:
    """The socket and the core of every CPU online; in a container `/sys` may have the host's others too."""
    cores, online = set(), numbered(read_text(root, f"{CPU_FOLDER}/online") or "")
    for folder in (root / CPU_FOLDER).glob("cpu[0-9]*/topology"):
        if online and int(folder.parent.name.removeprefix("cpu")) not in online:
            continue
        package, core = (read_text(folder, name) for name in ("physical_package_id", "core_id"))
        if package is not None and core is not None:
            cores.add((package, core))
    return cores


def memory_bytes(root: Path) -> int | None:
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
    off = read_text(root, f"{CPU_FOLDER}/intel_pstate/no_turbo")
    if off is not None:
        return off == "0"
    on = read_text(root, f"{CPU_FOLDER}/cpufreq/boost")
    return None if on is None else on == "1"


def isolated(root: Path) -> frozenset[int]:
    return numbered(read_text(root, f"{CPU_FOLDER}/isolated") or "")


def throttles(root: Path) -> int:
    """How often cores were slowed for their heat since the machine started; 0 where no file says."""
    paths = (root / CPU_FOLDER).glob("cpu[0-9]*/thermal_throttle/core_throttle_count")
    return sum(int(read_text(path.parent, path.name) or 0) for path in paths)


def siblings(root: Path, cpu: int) -> frozenset[int]:
    return numbered(read_text(root, f"{CPU_FOLDER}/cpu{cpu}/topology/thread_siblings_list") or str(cpu))


def numbered(text: str) -> frozenset[int]:
    """The numbers of a list such as `0-3,8` (Documentation/admin-guide/cputopology.rst)."""
    ranges = (part.partition("-") for part in text.split(",") if part)
    return frozenset(number for first, _, last in ranges for number in range(int(first), int(last or first) + 1))


NAMES: dict[str, dict[str, str]] = beside(__file__, "virtual")
"""Each kind of sign to its values, and the hypervisor that each of them names."""

UNNAMED = "a hypervisor that does not say its name"
NESTED_FLAG = "nested_pvm=1"
XEN = "sys/hypervisor/type"

BOOT_MESSAGE = re.compile(
    r"[0-7],\d+,\d+,[^;]*;"
    r"((?:Hypervisor detected: |Booting paravirtualized kernel on |kvm(?:_amd|_intel|-pvm)?: |pvm-\w+: )"
    r"(?!.*(?://|www\.))[\w .,:;()=+/-]{1,200})",
    re.ASCII,
)
"""A record of the kernel itself (facility 0: nobody else can write one) in a form that may be recorded."""

MOST_LOG_LINES, MOST_RECORD_BYTES, MOST_MESSAGES = 100_000, 8192, 20

CONTAINERS = {".dockerenv": "docker", "run/.containerenv": "podman", "run/systemd/container": "unknown"}
"""Files that Docker, Podman and systemd make in a container, to its kind where the last does not say it."""

IN_CONTAINER = "container"
"""The environment variable that a container's first process has, and what it starts inherits."""

SYSTEM_CONTAINERS = frozenset({"lxc", "lxc-libvirt", "openvz", "systemd-nspawn"})
"""Kinds that look like a machine of their own: what `/proc` says of CPUs and memory is theirs, not the host's."""


def container(root: Path) -> str | None:
    """The kind of container that this is, `docker`, or None where there is no sign of one.

    Source of the two signs that systemd reads: https://systemd.io/CONTAINER_INTERFACE/.
    """
    first = (read_text(root, "proc/1/environ") or "").split("\0")
    named = (word.partition("=")[2] for word in first if word.startswith(f"{IN_CONTAINER}="))
    files = (kind for sign, kind in CONTAINERS.items() if (root / sign).exists())
    ours = [os.environ.get(IN_CONTAINER)] if root == ROOT else []
    kind = next(filter(None, (read_text(root, "run/systemd/container"), *named, *files, *ours)), None)
    return kind if kind is None or SAFE_VALUE.fullmatch(kind) else "unknown"


def virtualization(root: Path) -> str | None:
    """The name of the hypervisor or of a container that looks like a machine, or None on bare metal.

    An `amazon ec2` board without the CPU's hypervisor flag is an EC2 bare-metal machine, so names of firmware
    count only beside the flag where the CPU has one (x86).
    """
    if not _is_guest(root):
        return kind if (kind := container(root)) in SYSTEM_CONTAINERS else None
    return next(_names(root), UNNAMED)


def nested(root: Path) -> bool | None:
    """Whether the hypervisor is believed to run in a virtual machine: False on bare metal, None if nothing says.

    A guess: Linux itself has no such parameter. PVM runs guests where an outer hypervisor offers neither VMX nor SVM.
    """
    if not _is_guest(root):
        return False
    words = (read_text(root, "proc/cmdline") or "").split()
    return True if NESTED_FLAG in words else None


def boot_messages(root: Path) -> tuple[str, ...] | None:
    """What the kernel logged of a hypervisor, each line once; None where its log cannot be read or lacks the boot.

    Source of the form: Documentation/ABI/testing/dev-kmsg. A read without waiting ends at the newest record.
    """
    lines: list[str] = []
    try:
        with open(os.open(root / "dev/kmsg", os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as log:  # noqa: PTH123
            while len(lines) < MOST_LOG_LINES and (record := log.read(MOST_RECORD_BYTES)):
                lines += record.decode("utf-8", "replace").splitlines()
    except OSError:
        if not lines:
            return None
    messages = dict.fromkeys(match[1] for line in lines if (match := BOOT_MESSAGE.fullmatch(line)))
    has_boot = bool(lines) and re.match(r"\d+,0,", lines[0]) is not None
    return tuple(messages)[:MOST_MESSAGES] if messages or has_boot else None


def _is_guest(root: Path) -> bool:
    info = cpuinfo(root)
    if "flags" in info:  # x86: the CPU itself says so
        return "hypervisor" in info["flags"].split() or read_text(root, XEN) is not None
    return next(_names(root), None) is not None


def _names(root: Path) -> Iterator[str]:
    """The hypervisor's name from each sign that has one, the surest first."""
    if kind := read_text(root, XEN):
        yield kind.capitalize()
    if (guest := sysctl("kern.vm_guest")) and guest != "none":
        yield NAMES["freebsd"].get(guest, UNNAMED)
    if root == ROOT and shutil.which("lscpu"):  # of CPUID, for which util-linux needs no privilege
        run = run_program(["lscpu"], 30, env={**os.environ, "LC_ALL": "C"})
        # Newer versions indent the line.
        if vendor := re.search(r"^\s*Hypervisor vendor:\s*(.+)$", run.stdout, re.MULTILINE):
            yield vendor[1].strip()
    yield from (name for clock, name in NAMES["clocks"].items() if clock in offered_clocksources(root))
    firmware = " ".join(read_text(root, f"sys/class/dmi/id/{name}") or "" for name in ("sys_vendor", "product_name"))
    yield from (name for word, name in NAMES["firmware"].items() if word in firmware.lower())
