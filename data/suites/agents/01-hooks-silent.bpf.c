/*
 * 01-hooks-silent: A dozen hooks on system calls that a security agent watches; the workload makes none of these calls.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with system call tracepoints (CONFIG_FTRACE_SYSCALLS).
 * Read:   Nothing is printed; the run's time is the result.
 * Source: a set like those of Tetragon and Tracee, but of system calls alone: cilium/tetragon at
 *         4fbfe2d74ecb84acf79ed09a416f01b54185e8a6, examples/policylibrary; aquasecurity/tracee at
 *         7c9ec9788ec555d019e109bd62182c7397d70646, pkg/events/core.go.
 */

#include "probe.bpf.h"

SEC("tp/syscalls/sys_enter_execve")
int at_execve(void *context)
{
	return 0;
}

SEC("tp/syscalls/sys_enter_execveat")
int at_execveat(void *context)
{
	return 0;
}

SEC("tp/syscalls/sys_enter_connect")
int at_connect(void *context)
{
	return 0;
}

SEC("tp/syscalls/sys_enter_bind")
int at_bind(void *context)
{
	return 0;
}

SEC("tp/syscalls/sys_enter_accept4")
int at_accept4(void *context)
{
	return 0;
}

SEC("tp/syscalls/sys_enter_ptrace")
int at_ptrace(void *context)
{
	return 0;
}

SEC("tp/syscalls/sys_enter_setuid")
int at_setuid(void *context)
{
	return 0;
}

SEC("tp/syscalls/sys_enter_setgid")
int at_setgid(void *context)
{
	return 0;
}

SEC("tp/syscalls/sys_enter_mount")
int at_mount(void *context)
{
	return 0;
}

SEC("tp/syscalls/sys_enter_unshare")
int at_unshare(void *context)
{
	return 0;
}

SEC("tp/syscalls/sys_enter_setns")
int at_setns(void *context)
{
	return 0;
}

SEC("tp/syscalls/sys_enter_memfd_create")
int at_memfd_create(void *context)
{
	return 0;
}
