/*
 * 08-filter, counting twin: the same probe, and the workload's own events are counted.
 *
 * Use:    dtrace -q -s 08-filter.check.d
 * Needs:  what 08-filter.d needs.
 * Read:   At exit, the printed number is that of the workload's events; other processes fire the probe too.
 *         The time of such a run is not used.
 * Source: 08-filter.d, with the action replaced by a count.
 */

fbt::dofileread:entry /execname == "dd-loop" && args[3]->uio_resid > 0/ {
    @ = count()
}
