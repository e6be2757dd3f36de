/*
 * switch.bpf.h: what the cases of this suite do at a context switch: times off the CPU, summed up.
 *
 * Use:   #include "switch.bpf.h" in a script <case>.bpf.c.
 * Why:   The thread that leaves the CPU has its time kept under its id; that of the thread that comes is looked up,
 *        taken away, and the difference added to the sum under a key. The idle threads of all CPUs have one id, 0, as
 *        in offcputime. Sizes of the maps are those of offcputime too.
 */

#ifndef SWITCH_BPF_H
#define SWITCH_BPF_H

#include "probe.bpf.h"

#define MAX_ENTRIES 10240

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_ENTRIES);
	__type(key, __u32);
	__type(value, __u64);
} starts SEC(".maps");

/* By thread, or by the id of a stack. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_ENTRIES);
	__type(key, __u32);
	__type(value, __u64);
} sums SEC(".maps");

/* The fields of the kernel's task_struct that are read; libbpf finds their places by the kernel's types (BTF). */
struct task_struct {
	int pid;
} __attribute__((preserve_access_index));

static __always_inline void leave(__u32 thread)
{
	__u64 now_ns = bpf_ktime_get_ns();

	bpf_map_update_elem(&starts, &thread, &now_ns, BPF_ANY);
}

static __always_inline void add(__u32 key, __u64 off_ns)
{
	__u64 *sum_ns = bpf_map_lookup_elem(&sums, &key);

	if (sum_ns)
		__sync_fetch_and_add(sum_ns, off_ns);
	else
		bpf_map_update_elem(&sums, &key, &off_ns, BPF_NOEXIST);
}

/* How long the thread was off the CPU; 0 where nobody saw it leave. */
static __always_inline __u64 come(__u32 thread)
{
	__u64 *start_ns = bpf_map_lookup_elem(&starts, &thread), off_ns;

	if (!start_ns)
		return 0;
	off_ns = bpf_ktime_get_ns() - *start_ns;
	bpf_map_delete_elem(&starts, &thread);
	return off_ns;
}

static __always_inline int sum_by_thread(__u32 leaves, __u32 comes)
{
	__u64 off_ns;

	leave(leaves);
	off_ns = come(comes);
	if (off_ns)
		add(comes, off_ns);
	return 0;
}

#endif
