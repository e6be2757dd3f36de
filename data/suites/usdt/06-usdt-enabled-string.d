/*
 * 06-usdt-enabled-string: The static probe probe_effect:work is enabled; the string that its second argument points
 * to is copied, 15 letters, and events are counted by it.
 *
 * Use:    dtrace -s 06-usdt-enabled-string.d -p PID, with the id of the waiting workload
 * Needs:  DTrace for Linux, which knows the probes of sys/sdt.h; a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ holds the string and its count.
 * Source: written for this suite; bpftrace copies with str(), DTrace with copyinstr().
 */

probe_effect$target:::work {
    @[copyinstr(arg1)] = count()
}
