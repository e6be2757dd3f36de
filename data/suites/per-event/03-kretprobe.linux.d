/*
 * 03-kretprobe: One kernel function is probed at return; the action does nothing.
 *
 * Use:    dtrace -s 03-kretprobe.linux.d
 * Needs:  what 02-kprobe.linux.d needs; at a return the trampoline is that of fexit: compare with 20-fexit, too.
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 03-kretprobe.check.linux.d in
 *         a run of its own.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 03.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Changed: the source probes dofileread of FreeBSD; on Linux that is vfs_read,
 *         as in 03-kretprobe.bt.
 */

fbt::vfs_read:return {
    1
}
