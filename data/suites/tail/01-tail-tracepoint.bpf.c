/*
 * 01-tail-tracepoint: The read system call is probed at entry by a static probe; each event is counted.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with system call tracepoints (CONFIG_FTRACE_SYSCALLS).
 * Read:   The run's times are the result; what the loader prints is of all processes. The workload's events are
 *         counted by 01-tail-tracepoint.check.bpf.c in a run of its own.
 * Source: the probe and the action of 01-tail-tracepoint.bt, in C.
 */

#include "probe.bpf.h"

SEC("tp/syscalls/sys_enter_read")
int probe(void *context)
{
	return count_event();
}
