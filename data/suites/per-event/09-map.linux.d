/*
 * 09-map: Each event is counted in one map.
 *
 * Use:    dtrace -s 09-map.linux.d
 * Needs:  what 02-kprobe.linux.d needs.
 * Read:   At exit, @ holds what was gathered; its counts add up to the events.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 09.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Changed: the source probes dofileread of FreeBSD; on Linux that is vfs_read,
 *         as in 09-map.bt.
 */

fbt::vfs_read:entry {
    @ = count()
}
