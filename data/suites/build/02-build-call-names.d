/*
 * 02-build-call-names: Every system call is probed at entry, by a probe of its own, and counted under its name.
 *
 * Use:    dtrace -q -s 02-build-call-names.d
 * Needs:  DTrace's syscall provider (FreeBSD: systrace.ko; Linux: CONFIG_FTRACE_SYSCALLS).
 * Read:   At exit, the sum of the counts is the number of events of all processes; the time of the build is the result.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 2, set "syscall, entry", which counts them
 *         together.
 */

syscall:::entry {
    @[probefunc] = count()
}
