/*
 * 03-kretprobe, counting twin: the same probe, and the workload's own events are counted.
 *
 * Use:    dtrace -q -s 03-kretprobe.check.linux.d
 * Needs:  what 03-kretprobe.linux.d needs.
 * Read:   At exit, the printed number is that of the workload's events; other processes fire the probe too.
 *         The time of such a run is not used.
 * Source: 03-kretprobe.linux.d, with the action replaced by a count.
 */

fbt::vfs_read:return /execname == "dd-loop"/ {
    @ = count()
}
