/*
 * 02-kprobe: One kernel function is probed at entry; the action does nothing.
 *
 * Use:    dtrace -s 02-kprobe.d
 * Needs:  FreeBSD's fbt provider (fbt.ko); dofileread stands in for vfs_read, which FreeBSD does not have.
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 02-kprobe.check.d in a run
 *         of its own.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 02.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Unchanged.
 */

fbt::dofileread:entry {
    1
}
