/*
 * 08-filter: Each event passes a filter on the size of the read, which always holds; then nothing is done.
 *
 * Use:    dtrace -s 08-filter.linux.d
 * Needs:  what 02-kprobe.linux.d needs.
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 08-filter.check.linux.d in
 *         a run of its own.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 08.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Changed: the source probes dofileread of FreeBSD; on Linux that is vfs_read,
 *         as in 08-filter.bt; the size is its third argument, where FreeBSD has uio_resid of a struct uio.
 */

fbt::vfs_read:entry /arg2 > 0/ {
    1
}
