/*
 * 14-request-nothing: The function that serves a request is probed at entry and return; the action does nothing.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   Nothing is printed; the run's time is the result.
 * Source: the two hooks of 15-request.
 */

#include "probe.bpf.h"

SEC("uprobe/./agent-loop:serve")
int enter(void *context)
{
	return 0;
}

SEC("uretprobe/./agent-loop:serve")
int leave(void *context)
{
	return 0;
}
