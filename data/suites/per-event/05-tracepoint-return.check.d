/*
 * 05-tracepoint-return, counting twin: the same probe, and the workload's own events are counted.
 *
 * Use:    dtrace -q -s 05-tracepoint-return.check.d
 * Needs:  what 05-tracepoint-return.d needs.
 * Read:   At exit, the printed number is that of the workload's events, and one more for the read that waited for
 *         its start; other processes fire the probe too. The time of such a run is not used.
 * Source: 05-tracepoint-return.d, with the action replaced by a count.
 */

syscall::read:return /execname == "dd-loop"/ {
    @ = count()
}
