/*
 * 03-kprobe-session: One kernel function is probed at entry and return by one program and one link (kprobe.session);
 * the action does nothing.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with sessions of kprobes (CONFIG_FPROBE, since Linux 6.10).
 * Read:   Nothing is printed; the run's result is what the workload takes. Events are counted by
 *         03-kprobe-session.check.bpf.c in a run of its own.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("kprobe.session/vfs_read")
int probe(void *context)
{
	return 0;
}
