/*
 * 03-beside-own-uprobes.1: One function of the process's own program, by one link that comes and goes.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file and the id of the process beside it,
 *         in the folder of beside-loop
 * Needs:  a kernel with links to many user functions (CONFIG_UPROBES, since Linux 6.6).
 * Read:   "seen" is how often all was detached and attached while that process ran.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

__u32 repeated SEC(".data.repeated") = 1;

SEC("uprobe.multi/./beside-loop:one_")
int probe(void *context)
{
	return 0;
}
