/*
 * 01-opens-tracepoint: Starts of programs, opens and connections are recorded, an open with its path, by tracepoints.
 * The workload opens a file and closes it.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with its types (BTF), system call tracepoints and ring buffers: Linux 5.8.
 * Read:   The loader prints how many of the workload's events were recorded, and how many were lost; other processes
 *         fire the probes too.
 * Source: a set like that of Tracee for the events sched_process_exec, security_file_open and security_socket_connect,
 *         at system calls instead of the kernel's functions: aquasecurity/tracee at
 *         7c9ec9788ec555d019e109bd62182c7397d70646, pkg/events/core.go.
 */

#include "../agents/agent.bpf.h"

static __always_inline int keep(struct record *record, const char *path)
{
	long bytes;

	if (!record)
		return 0;
	bytes = bpf_probe_read_user_str(record->data, sizeof(record->data), path);
	record->data_bytes = bytes > 0 ? (__u64)bytes : 0;
	return submit(record) == 0 ? count_of_target() : count_dropped();
}

struct call_context {
	__u64 common;
	__u64 number;
	__u64 arguments[6];
};

SEC("raw_tp/sched_process_exec")
int at_exec(void *context)
{
	struct record *record = new_record(0);

	return record ? (int)submit(record) : 0;
}

SEC("tp/syscalls/sys_enter_openat")
int at_openat(struct call_context *context)
{
	return keep(new_record((__u32)context->number), (const char *)context->arguments[1]);
}

SEC("tp/syscalls/sys_enter_openat2")
int at_openat2(struct call_context *context)
{
	return keep(new_record((__u32)context->number), (const char *)context->arguments[1]);
}

SEC("tp/syscalls/sys_enter_connect")
int at_connect(struct call_context *context)
{
	struct record *record = new_record((__u32)context->number);

	return record ? (int)submit(record) : 0;
}
