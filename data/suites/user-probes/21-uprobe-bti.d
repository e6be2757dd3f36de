/*
 * 21-uprobe-bti: The function bti_c of arm64 begins with bti c, which compilers put where calls may land; it is
 * probed at entry, and each event is counted. Linux steps a copy of it.
 *
 * Use:    dtrace -s 21-uprobe-bti.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider, on arm64; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:bti_c:entry {
    @ = count()
}
