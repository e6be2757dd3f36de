/*
 * 04-off-cpu-raw-tracepoint: At each context switch the time is kept for the thread that leaves, and the time off the
 * CPU is added to the sum of the thread that comes. Both are read from the kernel's own records of threads.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with raw tracepoints for BPF (CONFIG_BPF_EVENTS) and its types (BTF).
 * Read:   The time off the CPU of each thread in ns is in the map `sums`, which `bpftool map dump name sums` shows
 *         while it runs. Events are counted by 04-off-cpu-raw-tracepoint.check.bpf.c in a run of its own.
 * Source: 02-off-cpu-tracepoint.bpf.c, at the place where libbpf-tools/offcputime.bpf.c of bcc probes.
 */

#include "switch.bpf.h"

#include <bpf/bpf_tracing.h>

SEC("tp_btf/sched_switch")
int BPF_PROG(probe, bool is_preempted, struct task_struct *prev, struct task_struct *next)
{
	return sum_by_thread(prev->pid, next->pid);
}
