/*
 * 03-sweep-uprobe: The C library's read function is probed at entry; the action does nothing.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with uprobes (CONFIG_UPROBE_EVENTS), and a C library with the symbol __read (glibc).
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 03-sweep-
 *         uprobe.check.bpf.c in a run of its own.
 * Source: the probe and the action of 03-sweep-uprobe.bt, in C.
 */

#include "probe.bpf.h"

SEC("uprobe/libc.so.6:__read")
int probe(void *context)
{
	return 0;
}
