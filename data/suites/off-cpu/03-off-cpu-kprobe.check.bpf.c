/*
 * 03-off-cpu-kprobe, counting twin: the same probe, and the workload's own events are counted.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  what 03-off-cpu-kprobe.bpf.c needs.
 * Read:   The loader prints how often a process of the workload comes to the CPU; other processes fire the probe too.
 *         The time of such a run is not used.
 * Source: 03-off-cpu-kprobe.bpf.c, with the action replaced by a count.
 */

#include "probe.bpf.h"

SEC("kprobe/finish_task_switch*")
int probe(void *context)
{
	return is_called("switch-loop") ? count_event() : 0;
}
