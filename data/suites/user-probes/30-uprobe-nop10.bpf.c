/*
 * 30-uprobe-nop10: The function nop10 begins with a nop of 10 bytes; it is probed at entry, and each event is
 * counted. Linux 7.2 puts a call here after the first hit, so that later ones need no breakpoint.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file, in the folder of the compiled
 *         user-loop
 * Needs:  Linux 7.2 for x86-64 with uprobes (CONFIG_UPROBE_EVENTS); older ones refuse the nop's prefix.
 * Read:   At exit, the loader prints the sum of counts, which is the number of events.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("uprobe/./user-loop:nop10")
int probe(void *context)
{
	return count_event();
}
