/*
 * 05-usdt-enabled-semaphore: The static probe probe_effect:guarded is enabled, and each event is counted. The
 * workload reaches it because the probe's semaphore is raised, by the kernel: DTrace hands it the place of the
 * semaphore with the probe.
 *
 * Use:    dtrace -s 05-usdt-enabled-semaphore.d -p PID, with the id of the waiting workload
 * Needs:  DTrace for Linux, which knows the probes of sys/sdt.h; a kernel with uprobes (CONFIG_UPROBE_EVENTS), and
 *         with their reference counters (Linux 4.20).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

probe_effect$target:::guarded {
    @ = count()
}
