/*
 * 03-bystander-unfiltered: The read system call of every process is probed at entry; the action does nothing.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with system call tracepoints (CONFIG_FTRACE_SYSCALLS).
 * Read:   Nothing is printed; the bystander's time is the result.
 * Source: the probe and the action of 03-bystander-unfiltered.bt, in C.
 */

#include "probe.bpf.h"

SEC("tp/syscalls/sys_enter_read")
int probe(void *context)
{
	return 0;
}
