/*
 * 04-tracepoint-entry: The read system call is probed at entry by a static probe; the action does nothing.
 *
 * Use:    dtrace -s 04-tracepoint-entry.d
 * Needs:  FreeBSD's syscall provider (systrace.ko).
 * Read:   Nothing is printed; the run's time is the result.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 04.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Unchanged.
 */

syscall:freebsd:read:entry {
    1
}
