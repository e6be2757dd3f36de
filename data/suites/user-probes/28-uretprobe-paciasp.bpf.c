/*
 * 28-uretprobe-paciasp: The function paciasp of arm64 begins with paciasp, which signs the return address; it is
 * probed at return, and each event is counted. The kernel is entered twice: at the function's entry it puts an
 * address of its own in place of the return address, which is in a register then.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file, in the folder of the compiled
 *         user-loop
 * Needs:  a kernel with uprobes (CONFIG_UPROBE_EVENTS), on arm64.
 * Read:   At exit, the loader prints the sum of counts, which is the number of events.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("uretprobe/./user-loop:paciasp")
int probe(void *context)
{
	return count_event();
}
