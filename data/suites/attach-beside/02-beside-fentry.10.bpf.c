/*
 * 02-beside-fentry.10: Ten system calls, each probed at entry by a program and a trampoline that come and go.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file and the id of the process beside it
 * Needs:  a kernel with BTF and BPF trampolines (CONFIG_DEBUG_INFO_BTF, CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS).
 * Read:   "seen" is how often all was detached and attached while that process ran.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

__u32 repeated SEC(".data.repeated") = 1;

#define PROBE(name) \
	SEC("fentry") \
	int name(void *context) \
	{ \
		return 0; \
	}
#define TEN(stem) \
	PROBE(stem##0) PROBE(stem##1) PROBE(stem##2) PROBE(stem##3) PROBE(stem##4) \
	PROBE(stem##5) PROBE(stem##6) PROBE(stem##7) PROBE(stem##8) PROBE(stem##9)

TEN(call)
