/*
 * 02-kprobe, counting twin: the same probe, and the workload's own events are counted.
 *
 * Use:    dtrace -q -s 02-kprobe.check.d
 * Needs:  what 02-kprobe.d needs.
 * Read:   At exit, the printed number is that of the workload's events; other processes fire the probe too.
 *         The time of such a run is not used.
 * Source: 02-kprobe.d, with the action replaced by a count.
 */

fbt::dofileread:entry /execname == "dd-loop"/ {
    @ = count()
}
