/*
 * 02-attach-uprobes.1: The tool starts, probes one function of the workload at entry, and stops.
 *
 * Use:    dtrace -s 02-attach-uprobes.1.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   The times to start and to stop are the result; nothing is counted.
 * Source: written for this suite.
 */

pid$target:attach-loop:one_*:entry {
    1
}
