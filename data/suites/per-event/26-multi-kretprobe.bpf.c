/*
 * 26-multi-kretprobe: One kernel function is probed at return through a link that could hold many (fprobe); the action
 * does nothing.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with multi-kprobes (CONFIG_FPROBE, since Linux 5.18).
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 26-multi-kretprobe.check.bpf.c in a
 *         run of its own.
 * Source: written for this suite, beside 03-kretprobe.
 */

#include "probe.bpf.h"

SEC("kretprobe.multi/vfs_read")
int probe(void *context)
{
	return 0;
}
