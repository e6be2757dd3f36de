/*
 * 02-uprobe-nop1: The function nop1 begins with a nop of 1 byte; it is probed at entry, and each event is
 * counted. On x86-64 Linux has nothing to carry out in place of a nop.
 *
 * Use:    dtrace -s 02-uprobe-nop1.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:nop1:entry {
    @ = count()
}
