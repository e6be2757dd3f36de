/*
 * 26-uprobe-mov: The function mov of arm64 begins with a mov of a number to a register; it is probed at entry, and
 * each event is counted. Linux steps a copy of it, as of most instructions.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file, in the folder of the compiled
 *         user-loop
 * Needs:  a kernel with uprobes (CONFIG_UPROBE_EVENTS), on arm64.
 * Read:   At exit, the loader prints the sum of counts, which is the number of events.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("uprobe/./user-loop:mov")
int probe(void *context)
{
	return count_event();
}
