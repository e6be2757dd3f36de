/*
 * 02-attach-uprobes.10: The tool starts, probes ten functions of the workload at entry, and stops.
 *
 * Use:    dtrace -s 02-attach-uprobes.10.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   The times to start and to stop are the result; nothing is counted.
 * Source: written for this suite.
 */

pid$target:attach-loop:ten_*:entry {
    1
}
