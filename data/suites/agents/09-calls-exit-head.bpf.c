/*
 * 09-calls-exit-head: Every system call is recorded at return, with its arguments and its result, without data: 104
 * bytes.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with its types (BTF), raw tracepoints and ring buffers: Linux 5.8.
 * Read:   The loader prints how many of the workload's events were recorded, and how many were lost; other processes
 *         fire the probes too.
 * Source: 08-calls-exit without the data.
 */

#include "agent.bpf.h"

/* Which calls are of no interest, by number; Falco has a table of those that are. */
#define CALLS 512
char ignored[CALLS] SEC(".data.ignored") = {0};

static __always_inline bool is_ignored(__u32 call)
{
	return call >= CALLS || *(volatile char *)&ignored[call];
}

SEC("tp_btf/sys_exit")
int leave(__u64 *context)
{
	const struct pt_regs *regs = (const struct pt_regs *)context[0];
	__u32 call = CALL(regs);
	struct record *record;

	if (is_ignored(call))
		return 0;
	record = new_record(call);
	if (!record)
		return 0;
	add_arguments(record, regs);
	record->result = (__s64)context[1];
	return submit(record) == 0 ? count_of_target() : count_dropped();
}
