/*
 * 22-uprobe-paciasp: The function paciasp of arm64 begins with paciasp, which signs the return address; it is
 * probed at entry, and each event is counted. Linux steps a copy of it.
 *
 * Use:    dtrace -s 22-uprobe-paciasp.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider, on arm64; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:paciasp:entry {
    @ = count()
}
