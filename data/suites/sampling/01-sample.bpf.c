/*
 * 01-sample: A running thread is sampled 4,999 times a second, and each sample is counted.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with BPF and a timer for it (perf_event_open).
 * Read:   At exit, the loader prints the sum of counts, which is the number of samples of the workload.
 * Source: 01-sample.bt, in C. It does little more than find out whose sample it is, so it is nearly the interrupt alone.
 */

#include "probe.bpf.h"

SEC("perf_event")
int sample_4999_hz(void *context)
{
	return is_called("stack-loop") ? count_event() : 0;
}
