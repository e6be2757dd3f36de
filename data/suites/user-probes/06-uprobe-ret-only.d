/*
 * 06-uprobe-ret-only: The function ret_only begins with ret; it is probed at entry, and each event is counted.
 * On x86-64 Linux runs a copy of it elsewhere in a single step, which traps a second time; on arm64 it carries it
 * out by itself.
 *
 * Use:    dtrace -s 06-uprobe-ret-only.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:ret_only:entry {
    @ = count()
}
