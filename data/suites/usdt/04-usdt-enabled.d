/*
 * 04-usdt-enabled: The static probe probe_effect:work is enabled, and each event is counted. The kernel puts a
 * breakpoint in place of its nop.
 *
 * Use:    dtrace -s 04-usdt-enabled.d -p PID, with the id of the waiting workload
 * Needs:  DTrace for Linux, which knows the probes of sys/sdt.h; a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

probe_effect$target:::work {
    @ = count()
}
