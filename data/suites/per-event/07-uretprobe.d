/*
 * 07-uretprobe: The C library's read function is probed at return; the action does nothing.
 *
 * Use:    dtrace -s 07-uretprobe.d -p PID, with the id of the waiting workload
 * Needs:  DTrace's pid provider (FreeBSD: fasttrap.ko; Linux: CONFIG_UPROBE_EVENTS).
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 07-uretprobe.check.d in a run
 *         of its own.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 07.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). The source prints only 06.d; this is its probe, changed as in
 *         06-uprobe.d, at the return.
 */

pid$target:libc*:_*read:return
{
    1;
}
