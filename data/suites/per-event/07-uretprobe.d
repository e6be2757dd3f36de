/*
 * 07-uretprobe: The C library's read function is probed at return; the action does nothing.
 *
 * Use:    dtrace -s 07-uretprobe.d -p PID, with the id of the waiting workload
 * Needs:  FreeBSD's pid provider (fasttrap.ko).
 * Read:   Nothing is printed; the run's time is the result.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 07.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). The source prints only 06.d; this is its probe, changed as in
 *         06-uprobe.d, at the return.
 */

pid$target:libc*:_read:return
{
    1;
}
