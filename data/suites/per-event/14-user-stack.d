/*
 * 14-user-stack: Each event records its user stack and is counted under it.
 *
 * Use:    dtrace -s 14-user-stack.d
 * Needs:  FreeBSD's fbt provider (fbt.ko).
 * Read:   At exit, @ holds what was gathered; its counts add up to the events.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 14.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Unchanged.
 */

fbt::dofileread:entry {
    @[ustack()] = count()
}
