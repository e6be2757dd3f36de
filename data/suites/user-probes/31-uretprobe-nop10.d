/*
 * 31-uretprobe-nop10: The function nop10 begins with a nop of 10 bytes; it is probed at return, and each event is
 * counted. The kernel is entered twice: at the function's entry it puts an address of its own in place of the
 * return address.
 *
 * Use:    dtrace -s 31-uretprobe-nop10.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; Linux 7.2 for x86-64 with uprobes (CONFIG_UPROBE_EVENTS); older
 *         ones refuse the nop's prefix.
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:nop10:return {
    @ = count()
}
