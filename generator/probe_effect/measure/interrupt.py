"""Stopping in order: Ctrl-C, SIGTERM, a terminal that is gone, and a time that is over become an exception, once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from probe_effect.errors import ProbeEffectError

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
"""The signals with which a terminal, a system that shuts down, and a timer of ours ask a program to end."""


class Interrupted(ProbeEffectError):
    """The program was asked to stop."""


class TimeIsOver(Interrupted):
    """The time that it was given is over."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise `Interrupted` at the first signal to stop. Further signals wait until everything is tidied up.

    A terminal that is gone stops nothing where SIGHUP is ignored already, as nohup(1) has it.
    """

    def stop(number: int, _: FrameType | None) -> None:
        for known in SIGNALS:
            signal.signal(known, signal.SIG_IGN)
        if number == signal.SIGALRM:
            raise TimeIsOver("the time is over")
        raise Interrupted(f"stopped by {signal.Signals(number).name}")

    heard = [one for one in SIGNALS if one != signal.SIGHUP or signal.getsignal(one) != signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Have `interruptible` raise `TimeIsOver` when the block takes longer."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Hold these signals back until the block is left, so that it is run as a whole."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
