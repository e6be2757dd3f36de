/*
 * 08-uretprobe-nop1: The function nop1 begins with a nop of 1 byte; it is probed at return, and each event is
 * counted. The kernel is entered twice: at the function's entry it puts an address of its own in place of the
 * return address.
 *
 * Use:    dtrace -s 08-uretprobe-nop1.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:nop1:return {
    @ = count()
}
