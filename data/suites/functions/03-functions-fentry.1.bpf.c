/*
 * 03-functions-fentry.1: The tool starts, probes one system call at entry by a program and a
 * trampoline each, and stops.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with BTF and BPF trampolines (CONFIG_DEBUG_INFO_BTF, CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS).
 * Read:   What it takes to start and to stop is the result; nothing is counted.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

#define PROBE(name) \
	SEC("fentry") \
	int name(void *context) \
	{ \
		return 0; \
	}

PROBE(call)
