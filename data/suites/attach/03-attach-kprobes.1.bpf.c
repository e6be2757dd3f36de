/*
 * 03-attach-kprobes.1: The tool starts, probes one kernel function at entry, and stops.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with kprobes (CONFIG_KPROBES).
 * Read:   The times to start and to stop are the result; nothing is counted.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

#define PROBE(name) \
	SEC("kprobe/" #name) \
	int name(void *context) \
	{ \
		return 0; \
	}

PROBE(vfs_rmdir)
