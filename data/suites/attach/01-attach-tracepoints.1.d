/*
 * 01-attach-tracepoints.1: The tool starts, probes one system call at entry, and stops.
 *
 * Use:    dtrace -s 01-attach-tracepoints.1.d
 * Needs:  DTrace's syscall provider (FreeBSD: systrace.ko; Linux: CONFIG_FTRACE_SYSCALLS).
 * Read:   The times to start and to stop are the result; nothing is counted.
 * Source: written for this suite.
 */

syscall::setpriority:entry {
    1
}
