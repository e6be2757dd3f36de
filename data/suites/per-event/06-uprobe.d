/*
 * 06-uprobe: The C library's read function is probed at entry; the action does nothing.
 *
 * Use:    dtrace -s 06-uprobe.d -p PID, with the id of the waiting workload
 * Needs:  FreeBSD's pid provider (fasttrap.ko).
 * Read:   Nothing is printed; the run's time is the result.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 06.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Changed: the source starts from a script that stops each new dd and
 *         attaches a second dtrace; our workload waits to be attached, so only the probe itself is left.
 */

pid$target:libc*:_read:entry
{
    1;
}
