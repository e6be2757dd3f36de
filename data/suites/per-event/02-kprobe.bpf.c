/*
 * 02-kprobe: One kernel function is probed at entry; the action does nothing.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with kprobes (CONFIG_KPROBES).
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 02-kprobe.check.bpf.c in a run
 *         of its own.
 * Source: the probe and the action of 02-kprobe.bt, in C.
 */

#include "probe.bpf.h"

SEC("kprobe/vfs_read")
int probe(void *context)
{
	return 0;
}
