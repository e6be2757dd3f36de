/*
 * 07-uretprobe, counting twin: the same probe, and its events are counted.
 *
 * Use:    dtrace -q -s 07-uretprobe.check.d -p PID, with the id of the waiting workload
 * Needs:  what 07-uretprobe.d needs.
 * Read:   At exit, the printed number is that of the events; the probe fires in the workload alone. The time of such
 *         a run is not used.
 * Source: 07-uretprobe.d, with the action replaced by a count.
 */

pid$target:libc*:_*read:return /execname == "dd-loop"/
{
    @ = count();
}
