/*
 * 11-string-key: Each event is counted under the name of its process.
 *
 * Use:    dtrace -s 11-string-key.linux.d
 * Needs:  what 02-kprobe.linux.d needs.
 * Read:   At exit, @ holds what was gathered; its counts add up to the events.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 11.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Changed: the source probes dofileread of FreeBSD; on Linux that is vfs_read,
 *         as in 11-string-key.bt.
 */

fbt::vfs_read:entry {
    @[execname] = count()
}
