/*
 * 04-tracepoint-entry: The read system call is probed at entry by a static probe; the action does nothing.
 *
 * Use:    dtrace -s 04-tracepoint-entry.d
 * Needs:  DTrace's syscall provider (FreeBSD: systrace.ko; Linux: CONFIG_FTRACE_SYSCALLS).
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 04-tracepoint-entry.check.d in
 *         a run of its own.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 04.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Changed: the source names the module, freebsd; left empty, it matches
 *         that of any system.
 */

syscall::read:entry {
    1
}
