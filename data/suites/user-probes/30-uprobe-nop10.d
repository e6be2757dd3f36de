/*
 * 30-uprobe-nop10: The function nop10 begins with a nop of 10 bytes; it is probed at entry, and each event is
 * counted. Linux 7.2 puts a call here after the first hit, so that later ones need no breakpoint.
 *
 * Use:    dtrace -s 30-uprobe-nop10.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; Linux 7.2 for x86-64 with uprobes (CONFIG_UPROBE_EVENTS); older
 *         ones refuse the nop's prefix.
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:nop10:entry {
    @ = count()
}
