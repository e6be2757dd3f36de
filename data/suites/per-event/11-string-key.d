/*
 * 11-string-key: Each event is counted under the name of its process.
 *
 * Use:    dtrace -s 11-string-key.d
 * Needs:  FreeBSD's fbt provider (fbt.ko).
 * Read:   At exit, @ holds what was gathered; its counts add up to the events.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 11.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Unchanged.
 */

fbt::dofileread:entry {
    @[execname] = count()
}
