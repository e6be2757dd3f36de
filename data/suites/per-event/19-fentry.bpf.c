/*
 * 19-fentry: One kernel function is probed at entry through a BPF trampoline, a call instead of a breakpoint;
 * the action does nothing.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with BTF and BPF trampolines (CONFIG_DEBUG_INFO_BTF, CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS).
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 19-fentry.check.bpf.c in a run
 *         of its own.
 * Source: written for this suite, beside 02-kprobe.
 */

#include "probe.bpf.h"

SEC("fentry/vfs_read")
int probe(void *context)
{
	return 0;
}
