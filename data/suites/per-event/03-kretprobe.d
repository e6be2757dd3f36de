/*
 * 03-kretprobe: One kernel function is probed at return; the action does nothing.
 *
 * Use:    dtrace -s 03-kretprobe.d
 * Needs:  FreeBSD's fbt provider (fbt.ko).
 * Read:   Nothing is printed; the run's time is the result. Events are counted by 03-kretprobe.check.d in a run
 *         of its own.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 03.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Unchanged.
 */

fbt::dofileread:return {
    1
}
