/*
 * 15-request: The function that serves a request is probed at entry, where its start and its path are kept for the
 * thread, and at return, where a record of the request is made.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with uprobes (CONFIG_UPROBE_EVENTS), its types (BTF) and ring buffers: Linux 5.8.
 * Read:   The loader prints how many of the workload's events were recorded, and how many were lost; other processes
 *         fire the probes too.
 * Source: a set like that of OpenTelemetry's eBPF instrumentation (OBI, once Beyla) for a server in Go:
 *         open-telemetry/opentelemetry-ebpf-instrumentation at 6955b658837a947a66060f7f932b8b5441d61171,
 *         bpf/gotracer/go_nethttp.c, ServeHTTP. A thread stands for the goroutine and a uretprobe for its probes on
 *         return instructions; its dozens of other probes are left out.
 */

#include "agent.bpf.h"

#define METHOD_BYTES 7
#define PATH_BYTES 100
#define WAKE_UP_BYTES (500 * sizeof(struct request)) /* OBI's reader is woken when so much waits */

struct request {
	__u64 start_ns, end_ns, pid_and_tid, content_bytes, answer_bytes;
	char trace[48], connection[40];
	__u16 status;
	char method[METHOD_BYTES], path[PATH_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 10000);
	__type(key, __u64);
	__type(value, struct request);
} ongoing SEC(".maps");

SEC("uprobe/./agent-loop:serve")
int enter(struct pt_regs *context)
{
	__u64 key = bpf_get_current_pid_tgid();
	struct request request = {.start_ns = bpf_ktime_get_ns(), .pid_and_tid = key};

	bpf_probe_read_user_str(request.path, sizeof(request.path), (const void *)ARGUMENT_0(context));
	bpf_map_update_elem(&ongoing, &key, &request, BPF_ANY);
	return 0;
}

/* Returns whether the reader is woken: each time would cost more than the record. */
static __always_inline __u64 flags(void)
{
	__u64 waiting = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA);

	return waiting >= WAKE_UP_BYTES ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

SEC("uretprobe/./agent-loop:serve")
int leave(void *context)
{
	__u64 key = bpf_get_current_pid_tgid();
	struct request *request = bpf_map_lookup_elem(&ongoing, &key), *record;

	if (!request)
		return count_dropped();
	record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	if (record) {
		*record = *request;
		record->end_ns = bpf_ktime_get_ns();
		bpf_ringbuf_submit(record, flags());
	}
	bpf_map_delete_elem(&ongoing, &key);
	return record ? count_of_target() : count_dropped();
}
