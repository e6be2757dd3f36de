/*
 * 23-uprobe-adrp: The function adrp of arm64 begins with adrp, an address relative to the instruction; it is probed
 * at entry, and each event is counted. Linux carries it out by itself.
 *
 * Use:    dtrace -s 23-uprobe-adrp.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider, on arm64; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:adrp:entry {
    @ = count()
}
