/*
 * 07-uprobe-prologue: The function prologue begins with a compiled function's usual prologue; it is probed at
 * entry, and each event is counted. On x86-64 that is a push, as in the case of push; on arm64 a store of two
 * registers, of which Linux steps a copy.
 *
 * Use:    dtrace -s 07-uprobe-prologue.d -p PID, with the id of the waiting workload
 * Needs:  the pid provider; on Linux, a kernel with uprobes (CONFIG_UPROBE_EVENTS).
 * Read:   At exit, @ is the number of events.
 * Source: written for this suite.
 */

pid$target:user-loop:prologue:entry {
    @ = count()
}
