/*
 * 04-tracepoint-entry, counting twin: the same probe, and the workload's own events are counted.
 *
 * Use:    dtrace -q -s 04-tracepoint-entry.check.d
 * Needs:  what 04-tracepoint-entry.d needs.
 * Read:   At exit, the printed number is that of the workload's events; other processes fire the probe too.
 *         The time of such a run is not used.
 * Source: 04-tracepoint-entry.d, with the action replaced by a count.
 */

syscall::read:entry /execname == "dd-loop"/ {
    @ = count()
}
