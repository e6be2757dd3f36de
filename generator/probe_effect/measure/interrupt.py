"""Stopping in order: Ctrl-C and SIGTERM become an exception, once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from probe_effect.errors import ProbeEffectError

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""The signals with which a terminal, and a system that shuts down, ask a program to end."""


class Interrupted(ProbeEffectError):
    """The program was asked to stop."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise `Interrupted` at the first signal to stop. Further signals wait until everything is tidied up."""

    def stop(number: int, _: FrameType | None) -> None:
        for known in SIGNALS:
            signal.signal(known, signal.SIG_IGN)
        raise Interrupted(f"stopped by {signal.Signals(number).name}")

    before = {number: signal.signal(number, stop) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Hold these signals back until the block is left, so that it is run as a whole."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
