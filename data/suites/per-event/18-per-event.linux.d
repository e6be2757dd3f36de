/*
 * 18-per-event: Each event sends one line to the tracer, which prints it.
 *
 * Use:    dtrace -s 18-per-event.linux.d
 * Needs:  what 02-kprobe.linux.d needs.
 * Read:   One line per event; the tracer says apart how many it lost.
 * Source: Mateusz Piotrowski, talk on tracing overhead (2023), benchmark 1, script 18.d; after Brendan Gregg,
 *         "BPF Performance Tools" (2019). Changed: the source probes dofileread of FreeBSD; on Linux that is vfs_read,
 *         as in 18-per-event.bt; the size is its third argument, where FreeBSD has uio_resid of a struct uio.
 */

fbt::vfs_read:entry {
    printf("%d bytes\n", arg2);
}
