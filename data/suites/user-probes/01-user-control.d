/*
 * 01-user-control: The tracer runs, but no probe fires in the workload: what is left is the harness and chance.
 *
 * Use:    dtrace -s 01-user-control.d
 * Needs:  nothing but the tracer.
 * Read:   Nothing is printed; the run's time is the result.
 * Source: the control of suite per-event, unchanged.
 */

dtrace:::BEGIN {}
