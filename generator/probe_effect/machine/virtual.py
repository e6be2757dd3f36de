"""Whether the hardware is real, from several signs; `systemd-detect-virt` alone names the innermost container."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from probe_effect.host import ROOT, read_text, sysctl
from probe_effect.machine.cpu import cpuinfo
from probe_effect.machine.kernel import offered_clocksources
from probe_effect.toml import beside

NAMES: dict[str, dict[str, str]] = beside(__file__)
"""Each kind of sign to its values, and the hypervisor that each of them names."""

UNNAMED = "a hypervisor that does not say its name"

NESTED_FLAG = "nested_pvm=1"

BOOT_MESSAGE = re.compile(
    r"[0-7],\d+,\d+,[^;]*;"
    r"((?:Hypervisor detected: |Booting paravirtualized kernel on |kvm(?:_amd|_intel|-pvm)?: |pvm-\w+: )"
    r"(?!.*(?://|www\.))[\w .,:;()=+/-]{1,200})",
    re.ASCII,
)
"""A record of the kernel itself (facility 0: nobody else can write one) in a form that may be recorded."""

MOST_LOG_LINES, MOST_RECORD_BYTES, MOST_MESSAGES = 100_000, 8192, 20


def virtualization(root: Path) -> str | None:
    """The name of the hypervisor, or None on bare metal.

    An `amazon ec2` board without the CPU's hypervisor flag is an EC2 bare-metal machine, so names of firmware
    count only beside the flag where the CPU has one (x86).
    """
    if not _is_guest(root):
        return None
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
    found = dict.fromkeys(match[1] for line in lines if (match := BOOT_MESSAGE.fullmatch(line)))
    has_boot = bool(lines) and re.match(r"\d+,0,", lines[0]) is not None
    return tuple(found)[:MOST_MESSAGES] if found or has_boot else None


def _is_guest(root: Path) -> bool:
    info = cpuinfo(root)
    if "flags" in info:  # x86: the CPU itself says so
        return "hypervisor" in info["flags"].split() or _xen_type(root) is not None
    return next(_names(root), None) is not None


def _names(root: Path) -> Iterator[str]:
    """The hypervisor's name from each sign that has one, the surest first."""
    if kind := _xen_type(root):
        yield kind
    if (guest := sysctl("kern.vm_guest")) and guest != "none":
        yield NAMES["freebsd"].get(guest, UNNAMED)
    if root == ROOT and (vendor := _lscpu_vendor()):
        yield vendor
    yield from (name for clock, name in NAMES["clocks"].items() if clock in offered_clocksources(root))
    firmware = " ".join(read_text(root, f"sys/class/dmi/id/{name}") or "" for name in ("sys_vendor", "product_name"))
    yield from (name for word, name in NAMES["firmware"].items() if word in firmware.lower())


def _xen_type(root: Path) -> str | None:
    kind = read_text(root, "sys/hypervisor/type")
    return kind.capitalize() if kind else None


def _lscpu_vendor() -> str | None:
    """The hypervisor's name from CPUID, through util-linux, which needs no privilege for it."""
    if shutil.which("lscpu") is None:
        return None
    english = {**os.environ, "LC_ALL": "C"}
    run = subprocess.run(["lscpu"], env=english, capture_output=True, text=True, timeout=30, check=False)  # noqa: S607 (the reader's own PATH is meant)
    found = re.search(r"^\s*Hypervisor vendor:\s*(.+)$", run.stdout, re.MULTILINE)  # indented in newer versions
    return found[1].strip() if found else None
