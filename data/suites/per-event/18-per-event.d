/*
 * 18-per-event: Each event sends one line to the tracer, which prints it.
 *
 * Use:    dtrace -s 18-per-event.d
 * Needs:  FreeBSD's fbt provider (fbt.ko).
 * Read:   One line per event; the tracer says apart how many it lost.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 18.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Unchanged.
 */

fbt::dofileread:entry {
    printf("%d bytes\n", args[3]->uio_resid);
}
