/*
 * 06-calls-filtered: Every system call is probed at entry and return, and a table of the calls that are of interest has
 * none that the workload makes.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with its types (BTF) and raw tracepoints.
 * Read:   Nothing is printed; the run's time is the result.
 * Source: a set like that of Falco until its entry events were dropped: falcosecurity/libs at
 *         03a1c9d1f3d36adfaab4584679c369739013ba40, driver/modern_bpf/programs/attached/dispatchers. Left out are tail
 *         calls to a program for each system call, and the number of a call in 32-bit programs.
 */

#include "agent.bpf.h"

/* Which calls are of no interest, by number; Falco has a table of those that are. */
#define CALLS 512
char ignored[CALLS] SEC(".data.ignored") = {[0 ... CALLS - 1] = 1};

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
	add_data(record, record->result); /* of every call: here all are reads and writes */
	return submit(record) == 0 ? count_of_target() : count_dropped();
}
