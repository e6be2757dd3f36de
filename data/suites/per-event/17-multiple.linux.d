/*
 * 17-multiple: The size of each read goes to a histogram of its own for every pair of kernel and user stack.
 *
 * Use:    dtrace -s 17-multiple.linux.d
 * Needs:  what 13-kernel-stack.linux.d needs.
 * Read:   At exit, @ holds what was gathered; its counts add up to the events.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 17.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Changed: the source probes dofileread of FreeBSD; on Linux that is vfs_read,
 *         as in 17-multiple.bt; the size is its third argument, where FreeBSD has uio_resid of a struct uio.
 */

fbt::vfs_read:entry {
    @[stack(), ustack()] = quantize(arg2)
}
