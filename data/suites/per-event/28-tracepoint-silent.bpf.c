/*
 * 28-tracepoint-silent: A system call that nobody makes is probed at entry, so that the probe never fires.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with system call tracepoints (CONFIG_FTRACE_SYSCALLS).
 * Read:   Nothing is printed; the run's time is the result.
 * Source: the probe and the action of 28-tracepoint-silent.bt, in C.
 */

#include "probe.bpf.h"

SEC("tp/syscalls/sys_enter_setdomainname")
int probe(void *context)
{
	return 0;
}
