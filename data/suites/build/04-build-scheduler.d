/*
 * 04-build-scheduler: Everything that the scheduler tells by static probes is counted, by probe.
 *
 * Use:    dtrace -q -s 04-build-scheduler.d
 * Needs:  DTrace's sched provider, whose probes differ from system to system.
 * Read:   At exit, the sum of the counts is the number of events of all processes; the time of the build is the result.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 2, set "sched, all".
 */

sched:::* {
    @[probename] = count()
}
