/*
 * 01-functions-kprobe-multi.40000: The tool starts, probes forty thousand kernel functions at entry by one link,
 * and stops.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with multi-kprobes (CONFIG_FPROBE) that lists addresses of functions (since Linux 6.5).
 * Read:   What it takes to start and to stop is the result; nothing is counted.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("kprobe.multi")
int first_40000_functions(void *context)
{
	return 0;
}
