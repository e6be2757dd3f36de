/*
 * 15-histogram: The size of each read goes to a histogram of powers of two.
 *
 * Use:    dtrace -s 15-histogram.linux.d
 * Needs:  what 02-kprobe.linux.d needs.
 * Read:   At exit, @ holds what was gathered; its counts add up to the events.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 15.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Changed: the source probes dofileread of FreeBSD; on Linux that is vfs_read,
 *         as in 15-histogram.bt; the size is its third argument, where FreeBSD has uio_resid of a struct uio.
 */

fbt::vfs_read:entry {
    @ = quantize(arg2)
}
