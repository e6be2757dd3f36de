/*
 * 06-uprobe: The C library's read function is probed at entry; the action does nothing.
 *
 * Use:    dtrace -s 06-uprobe.d -p PID, with the id of the waiting workload
 * Needs:  DTrace's pid provider (FreeBSD: fasttrap.ko; Linux: CONFIG_UPROBE_EVENTS).
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 06-uprobe.check.d in a run
 *         of its own.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 06.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Changed: the source starts from a script that stops each new dd and
 *         attaches a second dtrace; our workload waits to be attached, so only the probe itself is left. The
 *         source names _read, as FreeBSD has it; glibc has __read there. The loop calls no other function that
 *         this pattern matches.
 */

pid$target:libc*:_*read:entry
{
    1;
}
