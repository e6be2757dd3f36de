/*
 * 05-tracepoint-return: The read system call is probed at return by a static probe; the action does nothing.
 *
 * Use:    dtrace -s 05-tracepoint-return.d
 * Needs:  FreeBSD's syscall provider (systrace.ko).
 * Read:   Nothing is printed; the run's time is the result.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 05.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Unchanged.
 */

syscall:freebsd:read:return {
    1
}
