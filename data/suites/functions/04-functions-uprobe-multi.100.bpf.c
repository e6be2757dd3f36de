/*
 * 04-functions-uprobe-multi.100: The tool starts, probes a hundred functions of the workload at entry by one link,
 * and stops.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file, in the folder of attach-loop
 * Needs:  a kernel with links to many user functions (CONFIG_UPROBES, since Linux 6.6).
 * Read:   What it takes to start and to stop is the result; nothing is counted.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("uprobe.multi/./attach-loop:hundred_")
int probe(void *context)
{
	return 0;
}
