/*
 * 01-nothing: The tool starts, watches nothing, and stops.
 *
 * Use:    dtrace -s 01-nothing.d
 * Needs:  nothing but the tracer.
 * Read:   The times to start and to stop are the result; nothing is counted.
 * Source: written for this suite.
 */

dtrace:::BEGIN {}
