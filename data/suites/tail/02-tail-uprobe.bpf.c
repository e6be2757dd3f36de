/*
 * 02-tail-uprobe: The function nop1 begins with a nop of 1 byte; it is probed at entry, and each event is counted.
 * On x86-64 Linux has nothing to carry out in place of a nop.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file, in the folder of the compiled
 *         tail-loop
 * Needs:  a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, the loader prints the sum of counts, which is the number of events.
 * Source: the probe and the action of 02-tail-uprobe.bt, in C.
 */

#include "probe.bpf.h"

SEC("uprobe/./tail-loop:nop1")
int probe(void *context)
{
	return count_event();
}
