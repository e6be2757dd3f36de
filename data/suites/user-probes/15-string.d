/*
 * 15-string: The string that the first argument points to is copied, 15 letters, and events are counted by it.
 *
 * Use:    dtrace -s 15-string.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ holds the string and its count.
 * Source: written for this suite; bpftrace copies with str(), DTrace with copyinstr().
 */

pid$target:user-loop:prologue:entry {
    @[copyinstr(arg0)] = count()
}
