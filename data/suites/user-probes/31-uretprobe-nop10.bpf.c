/*
 * 31-uretprobe-nop10: The function nop10 begins with a nop of 10 bytes; it is probed at return, and each event is
 * counted. The kernel is entered twice: at the function's entry it puts an address of its own in place of the
 * return address.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file, in the folder of the compiled
 *         user-loop
 * Needs:  Linux 7.2 for x86-64 with uprobes (CONFIG_UPROBE_EVENTS); older ones refuse the nop's prefix.
 * Read:   At exit, the loader prints the sum of counts, which is the number of events.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("uretprobe/./user-loop:nop10")
int probe(void *context)
{
	return count_event();
}
