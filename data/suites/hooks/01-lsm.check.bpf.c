/*
 * 01-lsm, counting twin: the same probe, and the workload's own events are counted.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  what 01-lsm.bpf.c needs.
 * Read:   The loader prints the number of events of the workload; other processes fire the probe too. The time of
 *         such a run is not used.
 * Source: 01-lsm.bpf.c, with the action replaced by a count.
 */

#include "probe.bpf.h"

SEC("lsm/file_permission")
int probe(void *context)
{
	return is_called("dd-loop") ? count_event() : 0;
}
