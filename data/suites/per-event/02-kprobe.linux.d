/*
 * 02-kprobe: One kernel function is probed at entry; the action does nothing.
 *
 * Use:    dtrace -s 02-kprobe.linux.d
 * Needs:  DTrace 2.0 for Linux, and a kernel that lists its functions (CONFIG_FUNCTION_TRACER). DTrace 2.0.7 has fbt
 *         fire through a BPF trampoline (fentry) wherever the kernel has these, and through a kprobe elsewhere
 *         (populate in dt_prov_fbt.c of its library). On Linux 5.10 and 6.12 it set no kprobe, and
 *         enabled_functions of tracefs showed vfs_read with a bpf_trampoline: compare with 19-fentry, too.
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 02-kprobe.check.linux.d in
 *         a run of its own.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 02.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Changed: the source probes dofileread of FreeBSD; on Linux that is vfs_read,
 *         as in 02-kprobe.bt.
 */

fbt::vfs_read:entry {
    1
}
