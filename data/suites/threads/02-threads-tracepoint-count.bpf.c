/*
 * 02-threads-tracepoint-count: The read system call is probed at entry by a static probe; each event is
 * counted, each CPU counting for itself.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with system call tracepoints (CONFIG_FTRACE_SYSCALLS).
 * Read:   The run's time is the result; what the loader prints is of all processes. The workload's events
 *         are counted by 02-threads-tracepoint-count.check.bpf.c in a run of its own.
 * Source: the probe and the action of 02-threads-tracepoint-count.bt, in C.
 */

#include "probe.bpf.h"

SEC("tp/syscalls/sys_enter_read")
int probe(void *context)
{
	return count_event();
}
