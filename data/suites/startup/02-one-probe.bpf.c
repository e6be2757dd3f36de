/*
 * 02-one-probe: The tool starts, counts the workload's reads by a static probe at the system call's entry, and stops.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with system call tracepoints (CONFIG_FTRACE_SYSCALLS).
 * Read:   The times to start and to stop are the result; the loader prints the number of events of the workload.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("tp/syscalls/sys_enter_read")
int probe(void *context)
{
	return is_called("dd-loop") ? count_event() : 0;
}
