/*
 * 06-build-vfs: Every kernel function whose name begins with vfs_ is probed at entry and return, and counted.
 *
 * Use:    dtrace -q -s 06-build-vfs.d
 * Needs:  DTrace's fbt provider (FreeBSD: fbt.ko; Linux: a kernel that lists its functions, CONFIG_FUNCTION_TRACER).
 * Read:   At exit, the printed number is that of the events of all processes; the time of the build is the result.
 * Source: The functions of 06-build-vfs.bt, for DTrace; which functions there are differs from system to system.
 */

fbt::vfs_*:entry,
fbt::vfs_*:return {
    @ = count()
}
