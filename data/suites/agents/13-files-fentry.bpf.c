/*
 * 13-files-fentry: The same as 12-files-kprobe, by BPF trampolines at the entry of the same functions.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with BPF trampolines and its types (BTF).
 * Read:   The loader prints how often the workload's reads and writes were looked at; other processes fire the probes
 *         too.
 * Source: a set like that of Tetragon: cilium/tetragon at 4fbfe2d74ecb84acf79ed09a416f01b54185e8a6, the four hooks of
 *         pkg/sensors/base/base.go that are on processes, the three of examples/quickstart/file_monitoring.yaml, and
 *         five of examples/policylibrary (egress, bpf, modules). The first beginnings of that policy's paths are
 *         compared; its walk over mount points is left out.
 */

#include "agent.bpf.h"

#include "file.bpf.h"

SEC("fentry/security_file_permission")
int at_security_file_permission(__u64 *context)
{
	return look_at((struct file *)context[0]);
}

SEC("raw_tp/sched_process_exec")
int at_sched_process_exec(void *context)
{
	return 0;
}

SEC("fentry/acct_process")
int at_acct_process(void *context)
{
	return 0;
}

SEC("fentry/wake_up_new_task")
int at_wake_up_new_task(void *context)
{
	return 0;
}

SEC("fentry/security_bprm_committing_creds")
int at_security_bprm_committing_creds(void *context)
{
	return 0;
}

SEC("fentry/security_mmap_file")
int at_security_mmap_file(void *context)
{
	return 0;
}

SEC("fentry/security_path_truncate")
int at_security_path_truncate(void *context)
{
	return 0;
}

SEC("fentry/tcp_connect")
int at_tcp_connect(void *context)
{
	return 0;
}

SEC("fentry/bpf_check")
int at_bpf_check(void *context)
{
	return 0;
}

SEC("fentry/security_perf_event_alloc")
int at_security_perf_event_alloc(void *context)
{
	return 0;
}

SEC("fentry/security_kernel_module_request")
int at_security_kernel_module_request(void *context)
{
	return 0;
}

SEC("fentry/security_kernel_read_file")
int at_security_kernel_read_file(void *context)
{
	return 0;
}
