/*
 * 03-build-opens: System calls that open a file are probed at entry, and counted under the name of their process.
 *
 * Use:    dtrace -q -s 03-build-opens.d
 * Needs:  DTrace's syscall provider (FreeBSD: systrace.ko; Linux: CONFIG_FTRACE_SYSCALLS).
 * Read:   At exit, the sum of the counts is the number of events of all processes; the time of the build is the result.
 * Source: The calls of 03-build-opens.bt, for DTrace.
 */

syscall::open*:entry {
    @[execname] = count()
}
