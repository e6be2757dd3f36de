/*
 * 03-threads-tracepoint-shared: The read system call is probed at entry by a static probe; each event adds one
 * to a number that all CPUs share. The addition is atomic.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with system call tracepoints (CONFIG_FTRACE_SYSCALLS).
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 03-threads-tracepoint-
 *         shared.check.bpf.c in a run of its own.
 * Source: the probe and the action of 03-threads-tracepoint-shared.bt, in C.
 */

#include "probe.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} shared SEC(".maps");

SEC("tp/syscalls/sys_enter_read")
int probe(void *context)
{
	__u32 first = 0;
	__u64 *count = bpf_map_lookup_elem(&shared, &first);

	if (count)
		__sync_fetch_and_add(count, 1);
	return 0;
}
