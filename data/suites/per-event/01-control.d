/*
 * 01-control: The tracer runs, but no probe fires in the workload: what is left is the harness and chance.
 *
 * Use:    dtrace -s 01-control.d
 * Needs:  nothing but the tracer.
 * Read:   Nothing is printed; the run's time is the result.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 01.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Unchanged.
 */

dtrace:::BEGIN {}
