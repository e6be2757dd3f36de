/*
 * 09-map: Each event is counted in one map.
 *
 * Use:    dtrace -s 09-map.d
 * Needs:  FreeBSD's fbt provider (fbt.ko).
 * Read:   At exit, @ holds what was gathered; its counts add up to the events.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 09.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Unchanged.
 */

fbt::dofileread:entry {
    @ = count()
}
