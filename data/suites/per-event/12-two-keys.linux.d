/*
 * 12-two-keys: Each event is counted under the id and the name of its process.
 *
 * Use:    dtrace -s 12-two-keys.linux.d
 * Needs:  what 02-kprobe.linux.d needs.
 * Read:   At exit, @ holds what was gathered; its counts add up to the events.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 12.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Changed: the source probes dofileread of FreeBSD; on Linux that is vfs_read,
 *         as in 12-two-keys.bt.
 */

fbt::vfs_read:entry {
    @[pid, execname] = count()
}
