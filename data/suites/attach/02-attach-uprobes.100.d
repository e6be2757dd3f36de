/*
 * 02-attach-uprobes.100: The tool starts, probes a hundred functions of the workload at entry, and stops.
 *
 * Use:    dtrace -s 02-attach-uprobes.100.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   The times to start and to stop are the result; nothing is counted.
 * Source: written for this suite.
 */

pid$target:attach-loop:hundred_*:entry {
    1
}
