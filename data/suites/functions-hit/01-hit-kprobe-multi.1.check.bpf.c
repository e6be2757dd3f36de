/*
 * 01-hit-kprobe-multi.1, counting twin: the same probes, and the workload's own events are counted.
 *
 * Use:    as 01-hit-kprobe-multi.1.bpf.c
 * Needs:  what 01-hit-kprobe-multi.1.bpf.c needs.
 * Read:   The loader prints the number of events of the workload; other processes may fire the probes too. The time of
 *         such a run is not used.
 * Source: 01-hit-kprobe-multi.1.bpf.c, with the action replaced by a count.
 */

#include "probe.bpf.h"

SEC("kprobe.multi")
int vfs_read_and_0_of_net(void *context)
{
	return is_called("hit-loop") ? count_event() : 0;
}
