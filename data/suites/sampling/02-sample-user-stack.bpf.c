/*
 * 02-sample-user-stack: As 01-sample, counted per user stack.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with BPF and a timer for it (perf_event_open).
 * Read:   At exit, the loader prints the sum of counts; by_stack has a count for each stack.
 * Source: 02-sample-user-stack.bt, in C: the stack in a map of stacks, its number as the key of a count.
 */

#include "probe.bpf.h"

#define FRAMES 127

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 4096);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, FRAMES * sizeof(__u64));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64);
} by_stack SEC(".maps");

SEC("perf_event")
int sample_4999_hz(void *context)
{
	__u64 one = 1, *count;
	__u32 stack;

	if (!is_called("stack-loop"))
		return 0;
	stack = (__u32)bpf_get_stackid(context, &stacks, BPF_F_USER_STACK);
	count = bpf_map_lookup_elem(&by_stack, &stack);
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		bpf_map_update_elem(&by_stack, &stack, &one, BPF_NOEXIST);
	return count_event();
}
