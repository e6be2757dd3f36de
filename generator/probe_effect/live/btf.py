"""Names of the kernel's functions by their number in its type information, by which tracing programs are attached.

Source: Documentation/bpf/btf.rst of the Linux kernel, "BTF Type and String Encoding".
"""

import struct
from functools import cache

from probe_effect.host import ROOT

KERNEL = "sys/kernel/btf/vmlinux"

FUNCTION, TYPEDEF = 12, 8

HEAD_BYTES = 12
BYTES_BEHIND = {
    1: (4, 0),
    3: (12, 0),
    4: (0, 12),
    5: (0, 12),
    6: (0, 8),
    13: (0, 8),
    14: (4, 0),
    15: (0, 12),
    17: (4, 0),
    19: (0, 12),
}
"""Kind to the bytes behind a type's head: once, and for each of its members."""


@cache
def kernel_names() -> dict[int, str]:
    """Number to name of each function, and of each type definition (of which tracepoints have one); empty without BTF.

    Takes some tenths of a second, once.
    """
    try:
        return names((ROOT / KERNEL).read_bytes())
    except OSError:
        return {}


def names(data: bytes) -> dict[int, str]:
    """Number to name, as `kernel_names`, from the bytes of a BTF object."""
    head, types, _, strings = struct.unpack_from("<4I", data, 4)
    at, end, number = head + types, head + strings, 0
    found = {}
    while at < end:
        name, info = struct.unpack_from("<2I", data, at)
        number += 1
        kind = info >> 24 & 31
        if kind in {FUNCTION, TYPEDEF}:
            begin = end + name
            found[number] = data[begin : data.index(b"\0", begin)].decode(errors="replace")
        once, each = BYTES_BEHIND.get(kind, (0, 0))
        at += HEAD_BYTES + once + each * (info & 0xFFFF)
    return found
