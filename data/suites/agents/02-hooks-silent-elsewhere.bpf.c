/*
 * 02-hooks-silent-elsewhere: Six hooks on the life of processes, none of which the workload's loop fires, and none of
 * which is on a system call.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with its types (BTF) and raw tracepoints.
 * Read:   Nothing is printed; the run's time is the result.
 * Source: a set like that of Tracee without its hooks on system calls: aquasecurity/tracee at
 *         7c9ec9788ec555d019e109bd62182c7397d70646, pkg/ebpf/probes/probe_group.go.
 */

#include "probe.bpf.h"

SEC("raw_tp/sched_process_exec")
int at_sched_process_exec(void *context)
{
	return 0;
}

SEC("raw_tp/sched_process_fork")
int at_sched_process_fork(void *context)
{
	return 0;
}

SEC("raw_tp/sched_process_exit")
int at_sched_process_exit(void *context)
{
	return 0;
}

SEC("raw_tp/sched_process_free")
int at_sched_process_free(void *context)
{
	return 0;
}

SEC("raw_tp/signal_deliver")
int at_signal_deliver(void *context)
{
	return 0;
}

SEC("raw_tp/task_rename")
int at_task_rename(void *context)
{
	return 0;
}
