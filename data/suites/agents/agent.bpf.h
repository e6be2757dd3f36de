/*
 * agent.bpf.h: what the sets of this suite share: what an agent records of an event, and the buffer that takes it.
 *
 * Use:   #include "agent.bpf.h" in a script <case>.bpf.c, after UNREAD is defined if nobody is to read.
 * Needs: a kernel with its types (BTF) and ring buffers: Linux 5.8.
 * Why:   A record is made in a space of its CPU and copied into the buffer, as Falco does it; the reader is not woken
 *        for each, but looks by itself. All records are of one form, of 104 bytes and up to 80 more of data.
 *        libbpf-loader reads the buffer `records` and no other, writes the workload's process id into `target`, and
 *        counts what is in `dropped` as lost. All processes are recorded, and only the workload's events are counted.
 */

#ifndef AGENT_BPF_H
#define AGENT_BPF_H

#include "probe.bpf.h"

#include <bpf/bpf_core_read.h>

#define SNIPPET_BYTES 80 /* Falco's SNAPLEN */
#define ARGUMENTS 6

#ifdef UNREAD
#define records unread
#define BUFFER_BYTES (64 << 10) /* full at once, whatever the length of a run */
#else
#define BUFFER_BYTES (8 << 20) /* Falco's for each CPU, DEFAULT_DRIVER_BUFFER_BYTES_DIM of its libs */
#endif

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, BUFFER_BYTES);
} records SEC(".maps");

struct record {
	__u64 time_ns;
	__u64 pid_and_tid;
	__u32 bytes;
	__u32 call;
	char comm[COMM_BYTES];
	__u64 arguments[ARGUMENTS];
	__s64 result;
	__u64 data_bytes;
	char data[SNIPPET_BYTES];
};

#define HEAD_BYTES __builtin_offsetof(struct record, data)

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct record);
} space SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} dropped SEC(".maps");

__u32 target SEC(".data.target") = 0;

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di, si, dx, r10, r8, r9, orig_ax;
} __attribute__((preserve_access_index));
#define CALL(regs) ((__u32)(regs)->orig_ax)
#define ARGUMENT_0(regs) (regs)->di
#define ARGUMENT_1(regs) (regs)->si
#define ARGUMENT_2(regs) (regs)->dx
#define ARGUMENT_3(regs) (regs)->r10
#define ARGUMENT_4(regs) (regs)->r8
#define ARGUMENT_5(regs) (regs)->r9
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__u64 regs[31];
	__u64 orig_x0;
	__s32 syscallno;
} __attribute__((preserve_access_index));
#define CALL(regs) ((__u32)(regs)->syscallno)
#define ARGUMENT_0(regs) (regs)->orig_x0
#define ARGUMENT_1(regs) (regs)->regs[1]
#define ARGUMENT_2(regs) (regs)->regs[2]
#define ARGUMENT_3(regs) (regs)->regs[3]
#define ARGUMENT_4(regs) (regs)->regs[4]
#define ARGUMENT_5(regs) (regs)->regs[5]
#else
#error "agent.bpf.h: add where this processor has the arguments of a system call"
#endif

static __always_inline bool is_target(void)
{
	return bpf_get_current_pid_tgid() >> 32 == target;
}

static __always_inline int count_of_target(void)
{
	return is_target() ? count_event() : 0;
}

static __always_inline int count_dropped(void)
{
	__u32 first = 0;
	__u64 *count = is_target() ? bpf_map_lookup_elem(&dropped, &first) : NULL;

	if (count)
		++*count;
	return 0;
}

/* A record of this moment, without arguments, result or data; NULL never, but the kernel's verifier cannot know. */
static __always_inline struct record *new_record(__u32 call)
{
	__u32 first = 0;
	struct record *record = bpf_map_lookup_elem(&space, &first);

	if (!record)
		return NULL;
	record->time_ns = bpf_ktime_get_boot_ns();
	record->pid_and_tid = bpf_get_current_pid_tgid();
	record->call = call;
	bpf_get_current_comm(record->comm, sizeof(record->comm));
	record->data_bytes = 0;
	return record;
}

static __always_inline void add_arguments(struct record *record, const struct pt_regs *regs)
{
	record->arguments[0] = ARGUMENT_0(regs);
	record->arguments[1] = ARGUMENT_1(regs);
	record->arguments[2] = ARGUMENT_2(regs);
	record->arguments[3] = ARGUMENT_3(regs);
	record->arguments[4] = ARGUMENT_4(regs);
	record->arguments[5] = ARGUMENT_5(regs);
}

/* Copies up to SNIPPET_BYTES of the buffer that the second argument points to. */
static __always_inline void add_data(struct record *record, __s64 bytes)
{
	if (bytes <= 0)
		return;
	if (bytes > SNIPPET_BYTES)
		bytes = SNIPPET_BYTES;
	if (bpf_probe_read_user(record->data, (__u32)bytes & 127, (const void *)record->arguments[1]) == 0)
		record->data_bytes = (__u64)bytes;
}

/* Copies the record into the buffer; 0, or below it when the buffer is full. */
static __always_inline long submit(struct record *record)
{
	__u64 data_bytes = record->data_bytes;

	if (data_bytes > SNIPPET_BYTES)
		data_bytes = SNIPPET_BYTES;
	record->bytes = HEAD_BYTES + data_bytes;
	return bpf_ringbuf_output(&records, record, HEAD_BYTES + data_bytes, BPF_RB_NO_WAKEUP);
}

#endif
