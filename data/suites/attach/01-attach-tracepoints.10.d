/*
 * 01-attach-tracepoints.10: The tool starts, probes ten system calls at entry, and stops.
 *
 * Use:    dtrace -s 01-attach-tracepoints.10.d
 * Needs:  DTrace's syscall provider (FreeBSD: systrace.ko; Linux: CONFIG_FTRACE_SYSCALLS).
 * Read:   The times to start and to stop are the result; nothing is counted.
 * Source: written for this suite.
 */

syscall::setpriority:entry,
syscall::setsid:entry,
syscall::setpgid:entry,
syscall::setuid:entry,
syscall::setgid:entry,
syscall::setreuid:entry,
syscall::setregid:entry,
syscall::setresuid:entry,
syscall::setresgid:entry,
syscall::setitimer:entry {
    1
}
