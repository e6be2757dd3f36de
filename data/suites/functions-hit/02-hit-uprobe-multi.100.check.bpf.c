/*
 * 02-hit-uprobe-multi.100, counting twin: the same probes, and the workload's own events are counted.
 *
 * Use:    as 02-hit-uprobe-multi.100.bpf.c
 * Needs:  what 02-hit-uprobe-multi.100.bpf.c needs.
 * Read:   The loader prints the number of events of the workload; other processes may fire the probes too. The time of
 *         such a run is not used.
 * Source: 02-hit-uprobe-multi.100.bpf.c, with the action replaced by a count.
 */

#include "probe.bpf.h"

SEC("uprobe.multi/./hit-loop:hundred_")
int probe(void *context)
{
	return is_called("hit-loop") ? count_event() : 0;
}
