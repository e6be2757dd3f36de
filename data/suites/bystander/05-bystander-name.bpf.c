/*
 * 05-bystander-name: The read system call is probed at entry; a filter lets the name of the watched process pass.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with system call tracepoints (CONFIG_FTRACE_SYSCALLS).
 * Read:   Nothing is printed; the bystander's time is the result.
 * Source: the probe and the action of 05-bystander-name.bt, in C.
 */

#include "probe.bpf.h"

SEC("tp/syscalls/sys_enter_read")
int probe(void *context)
{
	return is_called("bystander-loop") ? count_event() : 0;
}
