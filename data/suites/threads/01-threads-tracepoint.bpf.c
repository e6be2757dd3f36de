/*
 * 01-threads-tracepoint: The read system call is probed at entry by a static probe; the action does nothing.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with system call tracepoints (CONFIG_FTRACE_SYSCALLS).
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 01-threads-
 *         tracepoint.check.bpf.c in a run of its own.
 * Source: the probe and the action of 01-threads-tracepoint.bt, in C.
 */

#include "probe.bpf.h"

SEC("tp/syscalls/sys_enter_read")
int probe(void *context)
{
	return 0;
}
