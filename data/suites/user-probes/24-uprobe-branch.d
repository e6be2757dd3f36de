/*
 * 24-uprobe-branch: The function branch of arm64 begins with b, a branch; it is probed at entry, and each event is
 * counted. Linux carries it out by itself.
 *
 * Use:    dtrace -s 24-uprobe-branch.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider, on arm64; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:branch:entry {
    @ = count()
}
