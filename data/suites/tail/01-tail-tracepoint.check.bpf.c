/*
 * 01-tail-tracepoint, counting twin: the same probe, and the workload's own events are counted.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  what 01-tail-tracepoint.bpf.c needs.
 * Read:   The loader prints the number of events of the workload; other processes fire the probe too. The times of
 *         such a run are not used.
 * Source: 01-tail-tracepoint.bpf.c, with a filter.
 */

#include "probe.bpf.h"

SEC("tp/syscalls/sys_enter_read")
int probe(void *context)
{
	return is_called("tail-loop") ? count_event() : 0;
}
