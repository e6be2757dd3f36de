/*
 * 01-beside-kprobe-multi.10: Ten functions of the kernel, probed at entry by one link that comes and goes.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file and the id of the process beside it
 * Needs:  a kernel with multi-kprobes (CONFIG_FPROBE) that lists addresses of functions (since Linux 6.5).
 * Read:   "seen" is how often all was detached and attached while that process ran.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

__u32 repeated SEC(".data.repeated") = 1;

SEC("kprobe.multi")
int first_10_functions(void *context)
{
	return 0;
}
