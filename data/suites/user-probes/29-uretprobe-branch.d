/*
 * 29-uretprobe-branch: The function branch of arm64 begins with b, a branch; it is probed at return, and each event
 * is counted. The kernel is entered twice: at the function's entry it puts an address of its own in place of the
 * return address, which is in a register then.
 *
 * Use:    dtrace -s 29-uretprobe-branch.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider, on arm64; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:branch:return {
    @ = count()
}
