/*
 * 21-raw-tracepoint: Every system call is probed at entry by a raw tracepoint, which is handed the arguments as
 * they are; the action does nothing. Two events for one operation: the read and the write.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with raw tracepoints for BPF (CONFIG_BPF_EVENTS).
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 21-raw-tracepoint.check.bpf.c in
 *         a run of its own.
 * Source: written for this suite, beside 04-tracepoint-entry.
 */

#include "probe.bpf.h"

SEC("raw_tp/sys_enter")
int probe(void *context)
{
	return 0;
}
