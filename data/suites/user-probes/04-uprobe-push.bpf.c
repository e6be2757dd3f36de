/*
 * 04-uprobe-push: The function push begins with a push of a register; it is probed at entry, and each event is
 * counted. On x86-64 Linux carries it out by itself, without a second trap.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file, in the folder of the compiled
 *         user-loop
 * Needs:  a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, the loader prints the sum of counts, which is the number of events.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("uprobe/./user-loop:push")
int probe(void *context)
{
	return count_event();
}
