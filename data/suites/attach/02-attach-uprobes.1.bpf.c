/*
 * 02-attach-uprobes.1: The tool starts, probes one function of the workload at entry, and stops.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file, in the folder of attach-loop
 * Needs:  a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   The times to start and to stop are the result; nothing is counted.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

#define PROBE(name) \
	SEC("uprobe/./attach-loop:" #name) \
	int name(void *context) \
	{ \
		return 0; \
	}

PROBE(one_0)
