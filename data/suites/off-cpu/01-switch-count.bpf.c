/*
 * 01-switch-count: Each context switch is counted in one map.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with tracepoints.
 * Read:   At exit, the loader prints the number of switches of all processes. The workload's own are counted by
 *         01-switch-count.check.bpf.c in a run of its own.
 * Source: 01-switch-count.bt, in C.
 */

#include "probe.bpf.h"

SEC("tp/sched/sched_switch")
int probe(void *context)
{
	return count_event();
}
