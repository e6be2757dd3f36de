/*
 * probe.bpf.h: what the suites' BPF programs share: one counter, and the licence that the kernel asks for.
 *
 * Use:   #include "probe.bpf.h" in a script <case>.bpf.c. By hand, on x86-64 (Debian has its <asm/types.h> apart):
 *        clang -O2 -g -target bpf -D__TARGET_ARCH_x86 -idirafter /usr/include/x86_64-linux-gnu -I FOLDER-OF-THIS-FILE \
 *              -c SCRIPT
 * Needs: the headers of libbpf. Nothing of the kernel's own types, so no vmlinux.h.
 */

#ifndef PROBE_BPF_H
#define PROBE_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#define COMM_BYTES 16 /* TASK_COMM_LEN, linux/sched.h */

/* Key 0 is the only one; each CPU has a value of its own, and libbpf-loader adds them up. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

static inline int count_event(void)
{
	__u32 first = 0;
	__u64 *count = bpf_map_lookup_elem(&counts, &first);

	if (count)
		++*count;
	return 0;
}

/* For counting twins: whether the current process has this name. Others fire a kernel's probes too. */
static __always_inline bool is_called(const char *name)
{
	char comm[COMM_BYTES] = "";

	bpf_get_current_comm(comm, sizeof(comm));
#pragma unroll /* the literal is folded away; there is no memcmp to call in the kernel */
	for (unsigned int at = 0; at <= __builtin_strlen(name); at++)
		if (comm[at] != name[at])
			return false;
	return true;
}

char LICENSE[] SEC("license") = "GPL";

#endif
