/*
 * 12-files-kprobe: A dozen hooks, one of which is on the permission to use a file, so that it fires at each read and
 * write. The file's path is read and compared, and no record is made of it.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with kprobes and its types (BTF).
 * Read:   The loader prints how often the workload's reads and writes were looked at; other processes fire the probes
 *         too.
 * Source: a set like that of Tetragon: cilium/tetragon at 4fbfe2d74ecb84acf79ed09a416f01b54185e8a6, the four hooks of
 *         pkg/sensors/base/base.go that are on processes, the three of examples/quickstart/file_monitoring.yaml, and
 *         five of examples/policylibrary (egress, bpf, modules). The first beginnings of that policy's paths are
 *         compared; its walk over mount points is left out.
 */

#include "agent.bpf.h"

#include "file.bpf.h"

SEC("kprobe/security_file_permission")
int at_security_file_permission(struct pt_regs *context)
{
	return look_at((struct file *)ARGUMENT_0(context));
}

SEC("raw_tp/sched_process_exec")
int at_sched_process_exec(void *context)
{
	return 0;
}

SEC("kprobe/acct_process")
int at_acct_process(void *context)
{
	return 0;
}

SEC("kprobe/wake_up_new_task")
int at_wake_up_new_task(void *context)
{
	return 0;
}

SEC("kprobe/security_bprm_committing_creds")
int at_security_bprm_committing_creds(void *context)
{
	return 0;
}

SEC("kprobe/security_mmap_file")
int at_security_mmap_file(void *context)
{
	return 0;
}

SEC("kprobe/security_path_truncate")
int at_security_path_truncate(void *context)
{
	return 0;
}

SEC("kprobe/tcp_connect")
int at_tcp_connect(void *context)
{
	return 0;
}

SEC("kprobe/bpf_check")
int at_bpf_check(void *context)
{
	return 0;
}

SEC("kprobe/security_perf_event_alloc")
int at_security_perf_event_alloc(void *context)
{
	return 0;
}

SEC("kprobe/security_kernel_module_request")
int at_security_kernel_module_request(void *context)
{
	return 0;
}

SEC("kprobe/security_kernel_read_file")
int at_security_kernel_read_file(void *context)
{
	return 0;
}
