#!/bin/busybox sh
# The first program of an emulated machine: file systems, then the program that makes the runs, then off.
# Its output is the console; the serial port $LINE, a word of the kernel's command line, belongs to the host.
# These and no others: some of busybox's namesakes of other programs (setpriv) take other options.
for name in cat cp ln mkdir mount poweroff sh stty uname; do
    [ -e /bin/$name ] || /bin/busybox ln -s busybox /bin/$name
done
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root PYTHONPATH=/probe-effect/python PYTHONDONTWRITEBYTECODE=1
mkdir -p /proc /sys /dev /tmp /run /root /boot
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
ln -s /proc/self/fd /dev/fd
mount -t tmpfs shm /dev/shm
mount -t tmpfs tmp /tmp
mount -t debugfs debug /sys/kernel/debug
mount -t tracefs trace /sys/kernel/tracing
mount -t securityfs security /sys/kernel/security
mount -t bpf bpf /sys/fs/bpf
[ -f /probe-effect/boot/config ] && cp /probe-effect/boot/config "/boot/config-$(uname -r)"
/sbin/ldconfig  # by its cache tracers find the C library
# What the kernel does now and then by itself takes up to 2 million instructions of some run: it joins free pages
# (kcompactd), gives back pages that a CPU has kept free (vmstat_update, mm/vmstat.c), and puts devices to sleep.
[ -f /proc/sys/vm/compaction_proactiveness ] && echo 0 > /proc/sys/vm/compaction_proactiveness
echo 86400 > /proc/sys/vm/stat_interval
for control in /sys/bus/pci/devices/*/power/control; do echo on > "$control"; done
ulimit -n 65536
stty -F "$LINE" raw -echo
python3 -P -m probe_effect.guests.guest "$LINE"
poweroff -f
