/*
 * 20-uprobe-nop: The function nop of arm64 begins with a nop; it is probed at entry, and each event is counted.
 * Linux carries a nop out by itself since 6.13; before, it steps a copy.
 *
 * Use:    dtrace -s 20-uprobe-nop.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider, on arm64; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:nop:entry {
    @ = count()
}
