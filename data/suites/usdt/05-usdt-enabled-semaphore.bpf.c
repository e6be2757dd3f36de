/*
 * 05-usdt-enabled-semaphore: The static probe probe_effect:guarded is enabled, and each event is counted. The
 * workload reaches it because the probe's semaphore is raised, by the kernel: libbpf hands it the place of the
 * semaphore with the probe.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file, in the folder of the compiled usdt-loop
 * Needs:  a kernel with uprobes (CONFIG_UPROBE_EVENTS), and with their reference counters (Linux 4.20).
 * Read:   At exit, the loader prints the sum of counts, which is the number of events.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

#include <linux/ptrace.h>

#include <bpf/usdt.bpf.h>

SEC("usdt/./usdt-loop:probe_effect:guarded")
int probe(struct pt_regs *context)
{
	return count_event();
}
