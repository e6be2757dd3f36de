/*
 * 03-off-cpu-kprobe: At the end of each context switch the time is kept for the thread that left, and the time off the
 * CPU is added to the sum of the thread that came.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with kprobes (CONFIG_KPROBES) and its types (BTF). Where its compiler gave the function another
 *         name, such as finish_task_switch.isra.0, the loader takes that one.
 * Read:   The time off the CPU of each thread in ns is in the map `sums`, which `bpftool map dump name sums` shows
 *         while it runs. Events are counted by 03-off-cpu-kprobe.check.bpf.c in a run of its own.
 * Source: 03-off-cpu-kprobe.bt, in C.
 */

#include "switch.bpf.h"

#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

SEC("kprobe/finish_task_switch*")
int BPF_KPROBE(probe, struct task_struct *prev)
{
	return sum_by_thread(BPF_CORE_READ(prev, pid), bpf_get_current_pid_tgid());
}
