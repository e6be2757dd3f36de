/*
 * 04-usdt-enabled: The static probe probe_effect:work is enabled, and each event is counted. The kernel puts a
 * breakpoint in place of its nop.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file, in the folder of the compiled usdt-loop
 * Needs:  a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, the loader prints the sum of counts, which is the number of events.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

#include <linux/ptrace.h>

#include <bpf/usdt.bpf.h>

SEC("usdt/./usdt-loop:probe_effect:work")
int probe(struct pt_regs *context)
{
	return count_event();
}
