/*
 * 20-fexit: One kernel function is probed at return through a BPF trampoline, a call instead of a breakpoint;
 * the action does nothing.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with BTF and BPF trampolines (CONFIG_DEBUG_INFO_BTF, CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS).
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 20-fexit.check.bpf.c in a run of
 *         its own.
 * Source: written for this suite, beside 03-kretprobe.
 */

#include "probe.bpf.h"

SEC("fexit/vfs_read")
int probe(void *context)
{
	return 0;
}
