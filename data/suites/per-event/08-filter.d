/*
 * 08-filter: Each event passes a filter on the size of the read, which always holds; then nothing is done.
 *
 * Use:    dtrace -s 08-filter.d
 * Needs:  FreeBSD's fbt provider (fbt.ko).
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 08-filter.check.d in a run
 *         of its own.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 08.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Unchanged.
 */

fbt::dofileread:entry /args[3]->uio_resid > 0/ {
    1
}
