/*
 * 03-attach-kprobes.10: The tool starts, probes ten kernel functions at entry, and stops.
 *
 * Use:    clang as probe.bpf.h says; then libbpf-loader with the object file
 * Needs:  a kernel with kprobes (CONFIG_KPROBES).
 * Read:   The times to start and to stop are the result; nothing is counted.
 * Source: written for this suite.
 */

#include "probe.bpf.h"

#define PROBE(name) \
	SEC("kprobe/" #name) \
	int name(void *context) \
	{ \
		return 0; \
	}

PROBE(vfs_rmdir)
PROBE(vfs_mkdir)
PROBE(vfs_mknod)
PROBE(vfs_link)
PROBE(vfs_unlink)
PROBE(vfs_symlink)
PROBE(vfs_rename)
PROBE(vfs_fallocate)
PROBE(vfs_setxattr)
PROBE(vfs_removexattr)
