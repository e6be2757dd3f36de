/*
 * 04-uprobe-push: The function push begins with a push of a register; it is probed at entry, and each event is
 * counted. On x86-64 Linux carries it out by itself, without a second trap.
 *
 * Use:    dtrace -s 04-uprobe-push.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:push:entry {
    @ = count()
}
