/*
 * 01-attach-tracepoints.100: The tool starts, probes some hundred system calls at entry, and stops.
 *
 * Use:    dtrace -s 01-attach-tracepoints.100.d
 * Needs:  DTrace's syscall provider (FreeBSD: systrace.ko; Linux: CONFIG_FTRACE_SYSCALLS).
 * Read:   The times to start and to stop are the result; nothing is counted.
 * Source: written for this suite.
 */

syscall::s*:entry,
syscall::g*:entry {
    1
}
