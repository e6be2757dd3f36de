/*
 * 02-sweep-tracepoint-key: The read system call is probed at entry by a static probe; each event is counted
 * under the id of its process.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with system call tracepoints (CONFIG_FTRACE_SYSCALLS).
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 02-sweep-tracepoint-
 *         key.check.bpf.c in a run of its own.
 * Source: the probe and the action of 02-sweep-tracepoint-key.bt, in C.
 */

#include "probe.bpf.h"

/* The process id, to its events; each CPU has a value of its own. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64);
} by_process SEC(".maps");

SEC("tp/syscalls/sys_enter_read")
int probe(void *context)
{
	__u32 process = bpf_get_current_pid_tgid() >> 32;
	__u64 one = 1, *count = bpf_map_lookup_elem(&by_process, &process);

	if (count)
		++*count;
	else
		bpf_map_update_elem(&by_process, &process, &one, BPF_ANY);
	return 0;
}
