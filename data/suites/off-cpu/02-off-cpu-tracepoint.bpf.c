/*
 * 02-off-cpu-tracepoint: At each context switch the time is kept for the thread that leaves, and the time off the CPU
 * is added to the sum of the thread that comes.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with tracepoints.
 * Read:   The time off the CPU of each thread in ns is in the map `sums`, which `bpftool map dump name sums` shows
 *         while it runs. Events are counted by 02-off-cpu-tracepoint.check.bpf.c in a run of its own.
 * Source: 02-off-cpu-tracepoint.bt, in C. Fields: events/sched/sched_switch/format below /sys/kernel/tracing.
 */

#include "switch.bpf.h"

struct sched_switch {
	__u64 common;
	char prev_comm[COMM_BYTES];
	__s32 prev_pid;
	__s32 prev_prio;
	__s64 prev_state;
	char next_comm[COMM_BYTES];
	__s32 next_pid;
	__s32 next_prio;
};

SEC("tp/sched/sched_switch")
int probe(struct sched_switch *context)
{
	return sum_by_thread(context->prev_pid, context->next_pid);
}
