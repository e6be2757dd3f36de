/*
 * 01-attach-tracepoints.1000: The tool starts, probes all system calls at entry and at return, and stops.
 *
 * Use:    dtrace -s 01-attach-tracepoints.1000.d
 * Needs:  DTrace's syscall provider (FreeBSD: systrace.ko; Linux: CONFIG_FTRACE_SYSCALLS).
 * Read:   The times to start and to stop are the result; nothing is counted.
 * Source: written for this suite.
 */

syscall:::entry,
syscall:::return {
    1
}
