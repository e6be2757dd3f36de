/*
 * 25-uprobe-cbz: The function cbz of arm64 begins with cbz, a branch if a register is zero; it is probed at entry,
 * and each event is counted. Linux carries it out by itself.
 *
 * Use:    dtrace -s 25-uprobe-cbz.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider, on arm64; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:cbz:entry {
    @ = count()
}
