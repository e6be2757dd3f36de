/*
 * 16-user-stack: Events are counted by the user stack, which is walked by frame pointers; the workload keeps
 * them in its loop.
 *
 * Use:    dtrace -s 16-user-stack.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ holds the stack and its count.
 * Source: after case 14-user-stack of suite per-event, on a function of our own.
 */

pid$target:user-loop:prologue:entry {
    @[ustack()] = count()
}
