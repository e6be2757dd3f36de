/*
 * 01-attach-tracepoints.10: The tool starts, probes ten system calls at entry, and stops.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with system call tracepoints (CONFIG_FTRACE_SYSCALLS).
 * Read:   The times to start and to stop are the result; nothing is counted.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

#define PROBE(name) \
	SEC("tp/syscalls/sys_enter_" #name) \
	int name(void *context) \
	{ \
		return 0; \
	}

PROBE(setpriority)
PROBE(setsid)
PROBE(setpgid)
PROBE(setuid)
PROBE(setgid)
PROBE(setreuid)
PROBE(setregid)
PROBE(setresuid)
PROBE(setresgid)
PROBE(setitimer)
