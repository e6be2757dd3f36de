/*
 * 14-filter: Each event meets a filter on the argument that never holds: the action is there and never runs.
 *
 * Use:    dtrace -s 14-filter.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   Nothing is counted; the run's time is the result. Events are counted by 14-filter.check.d in a run of
 *         its own.
 * Source: after case 08-filter of suite per-event, on a function of our own.
 */

pid$target:user-loop:prologue:entry /arg0 == 0/ {
    @ = count()
}
