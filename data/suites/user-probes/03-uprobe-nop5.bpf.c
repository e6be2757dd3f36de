/*
 * 03-uprobe-nop5: The function nop5 begins with a nop of 5 bytes; it is probed at entry, and each event is
 * counted. On x86-64 Linux 6.18 to 7.1 put a call here after the first hit, so that later ones need no breakpoint.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file, in the folder of the compiled
 *         user-loop
 * Needs:  a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, the loader prints the sum of counts, which is the number of events.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("uprobe/./user-loop:nop5")
int probe(void *context)
{
	return count_event();
}
