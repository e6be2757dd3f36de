/*
 * 04-threads-uprobe-nop5: The function nop5 begins with a nop of 5 bytes; it is probed at entry, and each
 * event is counted.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file, in the folder of the
 *         compiled thread-loop
 * Needs:  a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, the loader prints the sum of counts, which is the number of events.
 * Source: the probe and the action of 04-threads-uprobe-nop5.bt, in C.
 */

#include "probe.bpf.h"

SEC("uprobe/./thread-loop:nop5")
int probe(void *context)
{
	return count_event();
}
