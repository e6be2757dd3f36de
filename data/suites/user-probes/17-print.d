/*
 * 17-print: Each event sends one line to the tracer, which prints it.
 *
 * Use:    dtrace -s 17-print.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   One line per event; the tracer says apart how many it lost.
 * Source: after case 18-per-event of suite per-event, on a function of our own.
 */

pid$target:user-loop:prologue:entry {
    printf("%d\n", tid)
}
