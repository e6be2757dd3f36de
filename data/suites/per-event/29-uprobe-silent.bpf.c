/*
 * 29-uprobe-silent: A function of the C library that nobody calls is probed at entry, so that the probe never fires.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with uprobes (CONFIG_UPROBE_EVENTS), and a C library with the symbol setdomainname (glibc).
 * Read:   Nothing is printed; the run's time is the result.
 * Source: the probe and the action of 29-uprobe-silent.bt, in C.
 */

#include "probe.bpf.h"

SEC("uprobe/libc.so.6:setdomainname")
int probe(void *context)
{
	return 0;
}
