/*
 * 09-map: Each event is counted in one map.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with kprobes (CONFIG_KPROBES).
 * Read:   At exit, the loader prints the sum of counts, which is the number of events.
 * Source: the probe and the action of 09-map.bt, in C.
 */

#include "probe.bpf.h"

SEC("kprobe/vfs_read")
int probe(void *context)
{
	return count_event();
}
