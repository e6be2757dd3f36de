/*
 * 25-uprobe-cbz: The function cbz of arm64 begins with cbz, a branch if a register is zero; it is probed at entry,
 * and each event is counted. Linux carries it out by itself.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file, in the folder of the compiled
 *         user-loop
 * Needs:  a kernel with uprobes (CONFIG_UPROBE_EVENTS), on arm64.
 * Read:   At exit, the loader prints the sum of counts, which is the number of events.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("uprobe/./user-loop:cbz")
int probe(void *context)
{
	return count_event();
}
