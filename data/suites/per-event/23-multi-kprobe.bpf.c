/*
 * 23-multi-kprobe: One kernel function is probed at entry through a link that could hold many
 * (fprobe), a call by ftrace; the action does nothing.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with multi-kprobes (CONFIG_FPROBE, since Linux 5.18).
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 23-multi-kprobe.check.bpf.c in a
 *         run of its own.
 * Source: written for this suite, beside 02-kprobe.
 */

#include "probe.bpf.h"

SEC("kprobe.multi/vfs_read")
int probe(void *context)
{
	return 0;
}
