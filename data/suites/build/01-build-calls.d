/*
 * 01-build-calls: Every system call is probed at entry; each event is counted.
 *
 * Use:    dtrace -q -s 01-build-calls.d
 * Needs:  DTrace's syscall provider (FreeBSD: systrace.ko; Linux: CONFIG_FTRACE_SYSCALLS).
 * Read:   At exit, the printed number is that of the events of all processes; the time of the build is the result.
 * Source: The events of 01-build-calls.bt, for DTrace, which has a probe for each call and none that all share.
 */

syscall:::entry {
    @ = count()
}
