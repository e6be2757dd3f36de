/*
 * 02-opens-kprobe: Starts of programs, opens and connections are recorded, an open with its path, by kprobes on the
 * kernel's checks.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with kprobes, its types (BTF) and ring buffers: Linux 5.8.
 * Read:   The loader prints how many of the workload's events were recorded, and how many were lost; other processes
 *         fire the probes too.
 * Source: a set like that of Tracee for the events sched_process_exec, security_file_open and security_socket_connect:
 *         aquasecurity/tracee at 7c9ec9788ec555d019e109bd62182c7397d70646, pkg/ebpf/probes/probe_group.go. Of the path
 *         the file's own name alone is read.
 */

#include "../agents/agent.bpf.h"

#include "../agents/file.bpf.h"

SEC("raw_tp/sched_process_exec")
int at_exec(void *context)
{
	struct record *record = new_record(0);

	return record ? (int)submit(record) : 0;
}

SEC("kprobe/security_file_open")
int at_open(struct pt_regs *context)
{
	struct file *file = (struct file *)ARGUMENT_0(context);
	const unsigned char *name = BPF_CORE_READ(file, f_path.dentry, d_name.name);
	struct record *record = new_record(0);
	long bytes;

	if (!record)
		return 0;
	bytes = bpf_probe_read_kernel_str(record->data, sizeof(record->data), name);
	record->data_bytes = bytes > 0 ? (__u64)bytes : 0;
	return submit(record) == 0 ? count_of_target() : count_dropped();
}

SEC("kprobe/security_socket_connect")
int at_connect(void *context)
{
	struct record *record = new_record(0);

	return record ? (int)submit(record) : 0;
}
