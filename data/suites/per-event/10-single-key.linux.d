/*
 * 10-single-key: Each event is counted under the id of its process.
 *
 * Use:    dtrace -s 10-single-key.linux.d
 * Needs:  what 02-kprobe.linux.d needs.
 * Read:   At exit, @ holds what was gathered; its counts add up to the events.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 10.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Changed: the source probes dofileread of FreeBSD; on Linux that is vfs_read,
 *         as in 10-single-key.bt.
 */

fbt::vfs_read:entry {
    @[pid] = count()
}
