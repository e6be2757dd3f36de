"""The operating system, its clock, and the settings that change what a probe costs.

A command line can hold host names, addresses and secrets, and so can build options: of both only those are recorded
that change what a probe costs, from fixed lists.
"""

import os
import re
from pathlib import Path

from probe_effect.host import kernel_config, read_text, sysctl

VULNERABILITY_FLAGS = """
    mitigations nopti pti kpti nospectre_v1 nospectre_v2 spectre_v2 spectre_v2_user spectre_bhi
    spec_store_bypass_disable nospec_store_bypass_disable spec_rstack_overflow retbleed l1tf mds
    tsx tsx_async_abort mmio_stale_data srbds gather_data_sampling reg_file_data_sampling
    indirect_target_selection tsa vmscape ibt
"""
"""Flags that change the entry to the kernel, and so every system call and trap."""

SCHEDULING_FLAGS = """
    isolcpus nohz nohz_full rcu_nocbs rcu_nocb_poll irqaffinity nosmt maxcpus nr_cpus threadirqs skew_tick
    preempt nowatchdog nmi_watchdog
"""
"""Flags that say which CPUs are left alone, and by which ticks."""

CLOCK_FLAGS = """
    clocksource tsc hpet intel_pstate amd_pstate cpufreq.default_governor idle processor.max_cstate
    intel_idle.max_cstate cpuidle.off cpuidle_haltpoll.force haltpoll.guest_halt_poll_ns
"""
"""Flags of clocks, frequency and idle states."""

OTHER_FLAGS = """
    nokaslr nested_pvm kvm-intel.nested kvm-amd.nested no-kvmclock no-steal-acc
    nomodule lockdown audit selinux apparmor
    transparent_hugepage numa_balancing init_on_alloc init_on_free slub_debug page_poison kasan psi
"""
"""Flags of virtual machines, of what tracing needs and what shares its paths, and of memory."""

BOOT_FLAGS = frozenset((VULNERABILITY_FLAGS + SCHEDULING_FLAGS + CLOCK_FLAGS + OTHER_FLAGS).split())

TRACING_OPTIONS = """
    KPROBES OPTPROBES KPROBES_ON_FTRACE KRETPROBES KRETPROBE_ON_RETHOOK UPROBES UPROBE_EVENTS KPROBE_EVENTS
    FTRACE FUNCTION_TRACER FUNCTION_GRAPH_TRACER FPROBE DYNAMIC_FTRACE DYNAMIC_FTRACE_WITH_ARGS
    DYNAMIC_FTRACE_WITH_DIRECT_CALLS FTRACE_SYSCALLS USER_EVENTS
    BPF_SYSCALL BPF_JIT BPF_JIT_ALWAYS_ON BPF_JIT_DEFAULT_ON BPF_EVENTS DEBUG_INFO_BTF
"""

ENTRY_OPTIONS = """
    PREEMPT PREEMPT_NONE PREEMPT_VOLUNTARY PREEMPT_LAZY PREEMPT_DYNAMIC PREEMPT_RT PREEMPT_COUNT HZ
    NO_HZ_IDLE NO_HZ_FULL CONTEXT_TRACKING_USER VIRT_CPU_ACCOUNTING_GEN TICK_CPU_ACCOUNTING IRQ_TIME_ACCOUNTING
    CPU_MITIGATIONS MITIGATION_PAGE_TABLE_ISOLATION PAGE_TABLE_ISOLATION MITIGATION_RETPOLINE RETPOLINE
    MITIGATION_RETHUNK RETHUNK MITIGATION_CALL_DEPTH_TRACKING MITIGATION_SRSO MITIGATION_IBRS_ENTRY
    X86_KERNEL_IBT CALL_PADDING UNWINDER_ORC UNWINDER_FRAME_POINTER PARAVIRT KVM_GUEST
"""
"""Options that change the way into the kernel and back, and the ticks."""

CHECKING_OPTIONS = """
    AUDITSYSCALL SECCOMP SECURITY SECURITY_SELINUX SECURITY_APPARMOR
    LOCKDEP PROVE_LOCKING DEBUG_PREEMPT KASAN KCSAN KMSAN UBSAN DEBUG_LIST DEBUG_VM DEBUG_ATOMIC_SLEEP
    CC_OPTIMIZE_FOR_SIZE CC_OPTIMIZE_FOR_PERFORMANCE LTO_CLANG CFI_CLANG
"""
"""Options by which the kernel does more than its work."""

CONFIG_OPTIONS = tuple((TRACING_OPTIONS + ENTRY_OPTIONS + CHECKING_OPTIONS).split())

SAFE_VALUE = re.compile(r"[\w.,:+-]{1,80}")
"""Forms that a value may have: words, numbers and CPU lists; no paths, quotes or `@`."""

CLOCK_FOLDER = "sys/devices/system/clocksource/clocksource0"


def os_name(root: Path) -> str | None:
    """Distribution and its version, as `/etc/os-release` gives them."""
    for line in (read_text(root, "etc/os-release") or "").splitlines():
        key, _, value = line.partition("=")
        if key == "PRETTY_NAME":
            return value.strip().strip("\"'") or None
    return None


def kernel_release(root: Path) -> str:
    """The kernel's release, as `uname -r` prints it."""
    return read_text(root, "proc/sys/kernel/osrelease") or os.uname().release


def architecture() -> str:
    """The architecture, as `uname -m` prints it."""
    return os.uname().machine


def boot_flags(root: Path) -> tuple[str, ...]:
    """Boot parameters that change probe cost, in their order; not those after `--`, which belong to init."""
    words = (read_text(root, "proc/cmdline") or "").partition(" -- ")[0].split()
    return tuple(word for word in words if _may_be_recorded(word))


def _may_be_recorded(word: str) -> bool:
    name, has_value, value = word.partition("=")
    return name in BOOT_FLAGS and (not has_value or SAFE_VALUE.fullmatch(value) is not None)


def kernel_options(root: Path) -> dict[str, str]:
    """Build options that change probe cost; empty when no file has them."""
    config = kernel_config(root) or {}
    return {f"CONFIG_{name}": config[name] for name in CONFIG_OPTIONS if name in config}


def vulnerabilities(root: Path) -> dict[str, str]:
    """The kernel's account of each CPU vulnerability, by its name."""
    folder = root / "sys/devices/system/cpu/vulnerabilities"
    texts = {path.name: read_text(folder, path.name) for path in sorted(folder.glob("*"))}
    return {name: " ".join(text.split()) for name, text in texts.items() if text}


def bpf_jit(root: Path) -> str | None:
    """State of the BPF just-in-time compiler: 0 off, 1 on, 2 on with debug output."""
    return read_text(root, "proc/sys/net/core/bpf_jit_enable")


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
