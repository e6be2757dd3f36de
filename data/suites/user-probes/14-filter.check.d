/*
 * 14-filter, counting twin: the same probe and a filter on the same argument that always holds, so that @ counts
 * what the case rejects.
 *
 * Use:    dtrace -s 14-filter.check.d -p PID, with the id of the waiting workload
 * Needs:  what 14-filter.d needs.
 * Read:   At exit, @ is the number of events. The time of such a run is not used.
 * Source: 14-filter.d, with the filter reversed.
 */

pid$target:user-loop:prologue:entry /arg0 != 0/ {
    @ = count()
}
