"""Machines that QEMU emulates: any Debian kernel on any host, and instructions instead of times."""
