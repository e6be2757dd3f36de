/*
 * 08-build-stacks: The user stack of whatever runs is taken 99 times a second on each CPU, and counted.
 *
 * Use:    dtrace -q -s 08-build-stacks.d
 * Needs:  DTrace's profile provider.
 * Read:   At exit, the sum of the counts is the number of events of all processes; the time of the build is the result.
 * Source: The probe of 08-build-stacks.bt, for DTrace.
 */

profile:::profile-99 {
    @[ustack()] = count()
}
