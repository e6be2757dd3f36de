/*
 * 05-calls-nothing: Every system call is probed at entry and return; the action does nothing.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with its types (BTF) and raw tracepoints.
 * Read:   Nothing is printed; the run's time is the result.
 * Source: the two hooks of Falco as it was until its entry events were dropped: falcosecurity/libs at
 *         03a1c9d1f3d36adfaab4584679c369739013ba40, driver/modern_bpf/programs/attached/dispatchers.
 */

#include "probe.bpf.h"

SEC("tp_btf/sys_enter")
int enter(void *context)
{
	return 0;
}

SEC("tp_btf/sys_exit")
int leave(void *context)
{
	return 0;
}
