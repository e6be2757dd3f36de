/*
 * 14-user-stack: Each event records its user stack and is counted under it.
 *
 * Use:    dtrace -s 14-user-stack.linux.d
 * Needs:  what 13-kernel-stack.linux.d needs.
 * Read:   At exit, @ holds what was gathered; its counts add up to the events.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 14.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Changed: the source probes dofileread of FreeBSD; on Linux that is vfs_read,
 *         as in 14-user-stack.bt.
 */

fbt::vfs_read:entry {
    @[ustack()] = count()
}
