/*
 * 15-histogram: The size of each read goes to a histogram of powers of two.
 *
 * Use:    dtrace -s 15-histogram.d
 * Needs:  FreeBSD's fbt provider (fbt.ko).
 * Read:   At exit, @ holds what was gathered; its counts add up to the events.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 15.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Unchanged.
 */

fbt::dofileread:entry {
    @ = quantize(args[3]->uio_resid)
}
