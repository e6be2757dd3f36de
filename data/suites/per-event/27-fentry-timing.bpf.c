/*
 * 27-fentry-timing: Entry and return are both probed through BPF trampolines, and the time between them goes to a
 * histogram: two firings for one event.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with BTF and BPF trampolines (CONFIG_DEBUG_INFO_BTF, CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS).
 * Read:   The loader prints the number of events, of all processes. The times in ns are in the map `histogram` by
 *         powers of 2, which `bpftool map dump name histogram` shows while it runs.
 * Source: 27-fentry-timing.bt, in C.
 */

#include "probe.bpf.h"

#include <bpf/bpf_tracing.h>

#define MAX_THREADS 4096
#define SLOTS 64

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_THREADS);
	__type(key, __u32);
	__type(value, __u64);
} starts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, __u64);
} histogram SEC(".maps");

static inline __u32 power_of_2(__u64 time_ns)
{
	__u32 power = 0;

#pragma unroll
	for (int half = SLOTS / 2; half > 0; half /= 2)
		if (time_ns >> half) {
			time_ns >>= half;
			power += half;
		}
	return power;
}

SEC("fentry/vfs_read")
int entry(void *context)
{
	__u32 thread = bpf_get_current_pid_tgid();
	__u64 now_ns = bpf_ktime_get_ns();

	bpf_map_update_elem(&starts, &thread, &now_ns, BPF_ANY);
	return 0;
}

SEC("fexit/vfs_read")
int leave(void *context)
{
	__u32 thread = bpf_get_current_pid_tgid(), power;
	__u64 *start_ns = bpf_map_lookup_elem(&starts, &thread), *count;

	if (!start_ns)
		return 0;
	power = power_of_2(bpf_ktime_get_ns() - *start_ns);
	bpf_map_delete_elem(&starts, &thread);
	count = bpf_map_lookup_elem(&histogram, &power);
	if (count)
		++*count;
	return count_event();
}
