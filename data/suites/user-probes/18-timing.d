/*
 * 18-timing: Entry and return are both probed, and the time between them goes to a histogram: two firings for
 * one event.
 *
 * Use:    dtrace -s 18-timing.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ holds the times in ns, one for each event.
 * Source: after case 16-timing of suite per-event, on a function of our own.
 */

pid$target:user-loop:prologue:entry {
    self->s = timestamp
}

pid$target:user-loop:prologue:return /self->s/ {
    @ = quantize(timestamp - self->s);
    self->s = 0;
}
