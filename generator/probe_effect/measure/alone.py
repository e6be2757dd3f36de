"""One measurement at a time: two on one machine would trace and slow each other, and neither would show it."""

from __future__ import annotations

import fcntl
from contextlib import contextmanager
from typing import TYPE_CHECKING

from probe_effect.errors import HostNotReady

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the machine's measuring lock, a file in `folder`; the kernel lets go of it when we end, however we end.

    Raises: HostNotReady when another measurement holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "measuring.lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            msg = "another measurement is running on this machine; wait for its end, then start this one again"
            raise HostNotReady(msg) from error
        yield
