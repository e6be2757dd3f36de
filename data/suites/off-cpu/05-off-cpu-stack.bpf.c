/*
 * 05-off-cpu-stack: At the end of each context switch the time is kept for the thread that left, and the time off the
 * CPU is added to the sum of the kernel stack of the thread that came, which is where it waited.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  what 03-off-cpu-kprobe.bpf.c needs.
 * Read:   The time off the CPU in ns is in the map `sums` by the ids of stacks, and the stacks are in the map `stacks`.
 *         Events are counted by 05-off-cpu-stack.check.bpf.c in a run of its own.
 * Source: 05-off-cpu-stack.bt, in C; the number of stacks is that of offcputime.py of bcc.
 */

#include "switch.bpf.h"

#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define MAX_STACKS 1024
#define MAX_FRAMES 127 /* PERF_MAX_STACK_DEPTH, linux/perf_event.h */

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, MAX_STACKS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, MAX_FRAMES * sizeof(__u64));
} stacks SEC(".maps");

SEC("kprobe/finish_task_switch*")
int BPF_KPROBE(probe, struct task_struct *prev)
{
	__u64 off_ns;

	leave(BPF_CORE_READ(prev, pid));
	off_ns = come(bpf_get_current_pid_tgid());
	if (off_ns)
		add(bpf_get_stackid(ctx, &stacks, 0), off_ns);
	return 0;
}
