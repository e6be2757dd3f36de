"""Being woken at once."""

import contextlib
import os


def be_prompt(*, is_prompt: bool) -> None:
    """Let this thread run before all usual ones (sched(7)), or as they do; nothing happens if we may not.

    On busy CPUs a window would last for as long as others let us wait, and what is attached would stay for as long.
    """
    policy, priority = (os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, 1) if is_prompt else (os.SCHED_OTHER, 0)
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, policy, os.sched_param(priority))
