/*
 * 02-off-cpu-tracepoint, counting twin: the same probe, and the workload's own events are counted.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  what 02-off-cpu-tracepoint.bpf.c needs.
 * Read:   The loader prints how often a process of the workload leaves the CPU; other processes fire the probe too.
 *         The time of such a run is not used.
 * Source: 02-off-cpu-tracepoint.bpf.c, with the action replaced by a count.
 */

#include "probe.bpf.h"

SEC("tp/sched/sched_switch")
int probe(void *context)
{
	return is_called("switch-loop") ? count_event() : 0;
}
