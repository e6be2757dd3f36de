/*
 * 07-calls-entry: Every system call is recorded at entry, with its arguments: 104 bytes.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with its types (BTF), raw tracepoints and ring buffers: Linux 5.8.
 * Read:   The loader prints how many of the workload's events were recorded, and how many were lost; other processes
 *         fire the probes too.
 * Source: a set like that of Falco until its entry events were dropped, without the half at the return:
 *         falcosecurity/libs at 03a1c9d1f3d36adfaab4584679c369739013ba40,
 *         driver/modern_bpf/programs/attached/dispatchers/syscall_enter.bpf.c. Left out are tail calls to a program for
 *         each system call, and the number of a call in 32-bit programs.
 */

#include "agent.bpf.h"

/* Which calls are of no interest, by number; Falco has a table of those that are. */
#define CALLS 512
char ignored[CALLS] SEC(".data.ignored") = {0};

static __always_inline bool is_ignored(__u32 call)
{
	return call >= CALLS || *(volatile char *)&ignored[call];
}

SEC("tp_btf/sys_enter")
int enter(__u64 *context)
{
	__u32 call = (__u32)context[1];
	struct record *record;

	if (is_ignored(call))
		return 0;
	record = new_record(call);
	if (!record)
		return 0;
	add_arguments(record, (const struct pt_regs *)context[0]);
	record->result = 0;
	return submit(record) == 0 ? count_of_target() : count_dropped();
}
