/*
 * 01-lsm: A program decides at a hook of the kernel's security modules (LSM), which is asked before each
 * read and each write, and allows it.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with BTF and BPF programs as a security module (CONFIG_BPF_LSM, and bpf in CONFIG_LSM).
 * Read:   Nothing is printed; the run's result is what the workload takes. Events are counted by
 *         01-lsm.check.bpf.c in a run of its own.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

SEC("lsm/file_permission")
int probe(void *context)
{
	return 0;
}
