"""Whether this machine's hardware can run a guest, as far as can be known before one is booted."""

import grp
import os
from pathlib import Path

from probe_effect.compilers import MACHINE
from probe_effect.emulated.architecture import GUESTS
from probe_effect.emulated.qemu import CPUS
from probe_effect.errors import HostNotReady
from probe_effect.host import ROOT, usable_cpus
from probe_effect.machine.cpu import cpuinfo

MODULES = {"vmx": "kvm_intel", "svm": "kvm_amd"}
"""Flag of a CPU of x86-64 that can run guests, to the module that has it do so."""


class KvmUnusable(HostNotReady):
    """No guest can be run by the hardware; the message says why, and what to do."""


def trouble(root: Path = ROOT) -> str | None:
    """Why KVM cannot be used, with what to do; None if nothing says so."""
    device, have, flags = root / "dev/kvm", len(usable_cpus()), cpuinfo(root).get("flags", "").split()
    flag = next((flag for flag in MODULES if flag in flags), "")
    facts = {"needed": CPUS, "have": have, "flag": flag, "module": MODULES.get(flag)}
    kind = "cpus" if have < CPUS else None
    try:
        os.close(os.open(device, os.O_RDWR | os.O_CLOEXEC))
    except FileNotFoundError:
        kind = "no_module" if flag else "no_cpu" if MACHINE == "x86_64" else "no_arm"
    except PermissionError:
        groups = {one.gr_gid: one.gr_name for one in grp.getgrall() if one.gr_gid}  # not root's: that is too much
        facts["group"] = groups.get(device.stat().st_gid)
        kind = "group" if facts["group"] else "closed"
    except OSError as error:
        facts["error"], kind = error.strerror, "broken"
    return str(GUESTS["kvm"][kind]).format(**facts) if kind else None
