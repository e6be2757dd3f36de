"""The reasons behind the kernel's refusals, and what to do about each."""

import contextlib
import errno
import os
from collections.abc import Iterator

from probe_effect.errors import HostNotReady
from probe_effect.host import ROOT, read_text
from probe_effect.host.kernel import LOCKDOWN
from probe_effect.model import series_of

PARANOID = "proc/sys/kernel/perf_event_paranoid"

OLDEST = "5.15"
"""The oldest Linux with all that we need: cookies of perf links. (Statistics came with 5.8, batches with 5.6.)"""


@contextlib.contextmanager
def explained(doing: str) -> Iterator[None]:
    """Turn refusals of the kernel in the block into HostNotReady with the reason; `doing` begins the message."""
    try:
        yield
    except OSError as error:
        raise HostNotReady(f"{doing}: the kernel refuses ({error.strerror or error}): {reason(error)}") from error


def reason(error: OSError) -> str:
    """Why the kernel refused, as far as is known, and what to do."""
    release = os.uname().release
    is_old = series_of(release) < series_of(OLDEST)  # before 5.11 root too may lock little memory, and a map is locked
    if error.errno in {errno.EPERM, errno.EACCES} and not (is_old and os.geteuid() == 0):
        return _not_permitted()
    if error.errno == errno.ENOSYS:
        return "it was built without BPF (CONFIG_BPF_SYSCALL)"
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        return "too many files are open: raise `ulimit -n`"
    return f"this is Linux {release}; expected {OLDEST} or newer, with CONFIG_BPF_EVENTS"


def _not_permitted() -> str:
    if os.geteuid() != 0:
        paranoid = read_text(ROOT, PARANOID)
        level = f", and kernel.perf_event_paranoid is {paranoid}" if paranoid else ""
        return f"user {os.geteuid()} is not root{level}; run it with sudo"
    lockdown = read_text(ROOT, LOCKDOWN) or ""
    if "[none]" not in lockdown and "[" in lockdown:
        return f"the kernel is locked down (/{LOCKDOWN}: {lockdown}), which forbids BPF that reads the kernel"
    return "root lacks CAP_SYS_ADMIN, as in a container: start it with `--privileged`, or run it on the host"
