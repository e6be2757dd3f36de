"""Which boot parameters and build options may be recorded: those that change what a probe costs, and no others.

A command line can hold host names, addresses and secrets, so both come from fixed lists.
"""

from __future__ import annotations

VULNERABILITY_FLAGS = """
    mitigations nopti pti kpti nospectre_v1 nospectre_v2 spectre_v2 spectre_v2_user spectre_bhi
    spec_store_bypass_disable nospec_store_bypass_disable spec_rstack_overflow retbleed l1tf mds
    tsx tsx_async_abort mmio_stale_data srbds gather_data_sampling reg_file_data_sampling
    indirect_target_selection tsa vmscape ibt
"""
"""Entry to the kernel, and so every system call and trap."""

SCHEDULING_FLAGS = """
    isolcpus nohz nohz_full rcu_nocbs rcu_nocb_poll irqaffinity nosmt maxcpus nr_cpus threadirqs skew_tick
    preempt nowatchdog nmi_watchdog
"""
"""Which CPUs are left in peace, and by which ticks."""

CLOCK_FLAGS = """
    clocksource tsc hpet intel_pstate amd_pstate cpufreq.default_governor idle processor.max_cstate
    intel_idle.max_cstate cpuidle.off cpuidle_haltpoll.force haltpoll.guest_halt_poll_ns
"""
"""Clocks, frequency and idle states."""

OTHER_FLAGS = """
    nokaslr nested_pvm kvm-intel.nested kvm-amd.nested no-kvmclock no-steal-acc
    nomodule lockdown audit selinux apparmor
    transparent_hugepage numa_balancing init_on_alloc init_on_free slub_debug page_poison kasan psi
"""
"""Virtual machines; what tracing needs and what shares its paths; memory."""

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
"""The way into the kernel and back, and the ticks."""

CHECKING_OPTIONS = """
    AUDITSYSCALL SECCOMP SECURITY SECURITY_SELINUX SECURITY_APPARMOR
    LOCKDEP PROVE_LOCKING DEBUG_PREEMPT KASAN KCSAN KMSAN UBSAN DEBUG_LIST DEBUG_VM DEBUG_ATOMIC_SLEEP
    CC_OPTIMIZE_FOR_SIZE CC_OPTIMIZE_FOR_PERFORMANCE LTO_CLANG CFI_CLANG
"""
"""What the kernel does beside its work."""

CONFIG_OPTIONS = tuple((TRACING_OPTIONS + ENTRY_OPTIONS + CHECKING_OPTIONS).split())
