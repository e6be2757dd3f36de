/*
 * 03-uprobe-nop5: The function nop5 begins with a nop of 5 bytes; it is probed at entry, and each event is
 * counted. On x86-64 Linux 6.18 to 7.1 put a call here after the first hit, so that later ones need no breakpoint.
 *
 * Use:    dtrace -s 03-uprobe-nop5.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:nop5:entry {
    @ = count()
}
