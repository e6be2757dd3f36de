/*
 * 04-hardware-breakpoint: The instruction at which a kernel function begins is a breakpoint in a register of each CPU;
 * the action does nothing.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with breakpoints of the hardware (CONFIG_HAVE_HW_BREAKPOINT), and with kprobes: where none may be,
 *         x86-64 refuses breakpoints in the kernel too. One of the registers of each CPU has to be free.
 * Read:   Nothing is printed; the run's result is what the workload takes. Events are counted by
 *         04-hardware-breakpoint.check.bpf.c in a run of its own.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("perf_event")
int execute_vfs_read(void *context)
{
	return 0;
}
