/*
 * 17-multiple: The size of each read goes to a histogram of its own for every pair of kernel and user stack.
 *
 * Use:    dtrace -s 17-multiple.d
 * Needs:  FreeBSD's fbt provider (fbt.ko).
 * Read:   At exit, @ holds what was gathered; its counts add up to the events.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 17.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Unchanged.
 */

fbt::dofileread:entry {
    @[stack(), ustack()] = quantize(args[3]->uio_resid)
}
