/*
 * 04-entry-statistics: The same as 03-entry-nothing while the kernel keeps its statistics of BPF programs, as bpftop
 * and probe-effect watch have it do.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with its types (BTF), raw tracepoints and BPF_ENABLE_STATS: Linux 5.8.
 * Read:   Nothing is printed; the run's time is the result.
 * Source: 03-entry-nothing; the kernel's commit 492ecee892c2 says what the statistics add.
 */

#include "probe.bpf.h"

/* libbpf-loader has the kernel keep its statistics as long as a program with this variable is loaded. */
__u32 statistics SEC(".data.statistics") = 1;

SEC("tp_btf/sys_enter")
int enter(void *context)
{
	return statistics == 0;
}
