/*
 * 02-security-fentry: The kernel function that asks the security modules before each read and each write is probed at
 * entry through a BPF trampoline; the action does nothing.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with BTF and BPF trampolines (CONFIG_DEBUG_INFO_BTF, CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS).
 * Read:   Nothing is printed; the run's result is what the workload takes. Events are counted by
 *         02-security-fentry.check.bpf.c in a run of its own.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("fentry/security_file_permission")
int probe(void *context)
{
	return 0;
}
