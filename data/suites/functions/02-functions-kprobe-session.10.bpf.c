/*
 * 02-functions-kprobe-session.10: The tool starts, probes ten kernel functions at entry and return by one
 * link, and stops.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with sessions of kprobes (CONFIG_FPROBE, since Linux 6.10).
 * Read:   What it takes to start and to stop is the result; nothing is counted.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("kprobe.session")
int first_10_functions(void *context)
{
	return 0;
}
