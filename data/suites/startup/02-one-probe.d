/*
 * 02-one-probe: The tool starts, counts the workload's reads by a static probe at the system call's entry, and stops.
 *
 * Use:    dtrace -s 02-one-probe.d
 * Needs:  DTrace's syscall provider (FreeBSD: systrace.ko; Linux: CONFIG_FTRACE_SYSCALLS).
 * Read:   The times to start and to stop are the result; @ is the number of events of the workload.
 * Source: written for this suite.
 */

syscall::read:entry /execname == "dd-loop"/ {
    @ = count();
}
