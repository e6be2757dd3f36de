/*
 * 05-uprobe-rip-mov: The function rip_mov begins with a load relative to the instruction's address; it is probed
 * at entry, and each event is counted. On x86-64 Linux runs a copy of it elsewhere in a single step, which traps
 * a second time.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file, in the folder of the compiled
 *         user-loop
 * Needs:  a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, the loader prints the sum of counts, which is the number of events.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("uprobe/./user-loop:rip_mov")
int probe(void *context)
{
	return count_event();
}
