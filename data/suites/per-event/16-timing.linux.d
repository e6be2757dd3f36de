/*
 * 16-timing: Entry and return are both probed, and the time between them goes to a histogram: two firings for one event.
 *
 * Use:    dtrace -s 16-timing.linux.d
 * Needs:  what 02-kprobe.linux.d and 03-kretprobe.linux.d need.
 * Read:   At exit, @ holds the times in ns, one for each event.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 16.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Changed: the source probes dofileread of FreeBSD; on Linux that is vfs_read,
 *         as in 16-timing.bt.
 */

fbt::vfs_read:entry {
    self->s = timestamp
}

fbt::vfs_read:return /self->s/ {
    @ = quantize(timestamp - self->s);
    self->s = 0;
}
