/*
 * 26-uprobe-mov: The function mov of arm64 begins with a mov of a number to a register; it is probed at entry, and
 * each event is counted. Linux steps a copy of it, as of most instructions.
 *
 * Use:    dtrace -s 26-uprobe-mov.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider, on arm64; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:mov:entry {
    @ = count()
}
