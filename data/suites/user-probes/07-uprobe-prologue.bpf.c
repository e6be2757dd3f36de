/*
 * 07-uprobe-prologue: The function prologue begins with a compiled function's usual prologue; it is probed at
 * entry, and each event is counted. On x86-64 that is a push, as in the case of push; on arm64 a store of two
 * registers, of which Linux steps a copy.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file, in the folder of the compiled
 *         user-loop
 * Needs:  a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, the loader prints the sum of counts, which is the number of events.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("uprobe/./user-loop:prologue")
int probe(void *context)
{
	return count_event();
}
