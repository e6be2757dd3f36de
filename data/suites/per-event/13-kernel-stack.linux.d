/*
 * 13-kernel-stack: Each event records its kernel stack and is counted under it.
 *
 * Use:    dtrace -s 13-kernel-stack.linux.d
 * Needs:  what 02-kprobe.linux.d needs, and BPF maps whose keys may be larger than 512 bytes, as DTrace's are with a
 *         stack in them: Linux 5.10 refuses such (htab_map_alloc_check in kernel/bpf/hashtab.c).
 * Read:   At exit, @ holds what was gathered; its counts add up to the events.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 13.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Changed: the source probes dofileread of FreeBSD; on Linux that is vfs_read,
 *         as in 13-kernel-stack.bt.
 */

fbt::vfs_read:entry {
    @[stack()] = count()
}
