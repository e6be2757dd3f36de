/*
 * 22-system-call: Each read of the workload is printed with its arguments and its result: two firings for one event.
 *
 * Use:    dtrace -q -s 22-system-call.d
 * Needs:  DTrace's syscall provider (FreeBSD: systrace.ko; Linux: CONFIG_FTRACE_SYSCALLS).
 * Read:   One line per event, as strace would print it; DTrace says apart how many it dropped.
 * Source: Written for this suite.
 */

syscall::read:entry /execname == "dd-loop"/ {
    self->fd = arg0;
    self->buffer = arg1;
    self->size = arg2;
}

syscall::read:return /self->buffer/ {
    printf("read(%d, 0x%x, %d) = %d\n", (int)self->fd, self->buffer, self->size, (int)arg1);
    self->buffer = 0;
}
