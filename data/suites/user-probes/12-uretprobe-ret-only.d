/*
 * 12-uretprobe-ret-only: The function ret_only begins with ret; it is probed at return, and each event is
 * counted. The kernel is entered twice: at the function's entry it puts an address of its own in place of the
 * return address.
 *
 * Use:    dtrace -s 12-uretprobe-ret-only.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:ret_only:return {
    @ = count()
}
