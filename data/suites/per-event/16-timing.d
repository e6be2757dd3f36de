/*
 * 16-timing: Entry and return are both probed, and the time between them goes to a histogram: two firings for one event.
 *
 * Use:    dtrace -s 16-timing.d
 * Needs:  FreeBSD's fbt provider (fbt.ko).
 * Read:   At exit, @ holds the times in ns, one for each event.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 16.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Unchanged.
 */

fbt::dofileread:entry {
    self->s = timestamp
}

fbt::dofileread:return /self->s/ {
    @ = quantize(timestamp - self->s);
    self->s = 0;
}
