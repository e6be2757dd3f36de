/*
 * 02-hit-uprobe-multi.1000: A thousand functions of the workload, which calls one, are probed at entry by one link;
 * the action does nothing.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file, in the folder of hit-loop
 * Needs:  a kernel with links to many user functions (CONFIG_UPROBES, since Linux 6.6).
 * Read:   Nothing is printed; the run's result is what the workload takes. Events are counted by
 *         02-hit-uprobe-multi.1000.check.bpf.c in a run of its own.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("uprobe.multi/./hit-loop:thousand_")
int probe(void *context)
{
	return 0;
}
