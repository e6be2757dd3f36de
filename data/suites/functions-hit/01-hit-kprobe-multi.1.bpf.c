/*
 * 01-hit-kprobe-multi.1: One kernel function, of which a read calls one, is probed at entry by one link;
 * the action does nothing.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with multi-kprobes (CONFIG_FPROBE) that lists addresses of functions (since Linux 6.5).
 * Read:   Nothing is printed; the run's result is what the workload takes. Events are counted by
 *         01-hit-kprobe-multi.1.check.bpf.c in a run of its own.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("kprobe.multi")
int vfs_read_and_0_of_net(void *context)
{
	return 0;
}
