"""Programs that we start begin as from a terminal, whatever our own caller asked of signals."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from probe_effect.processes import Child

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks proc(5)")


OF_THE_C_LIBRARY = 0b11 << 31
"""Signals 32 and 33, which no program can ask for (nptl(7))."""


@pytest.fixture
def odd_signals() -> Iterator[None]:
    """Signals as a background shell, `nohup` and our own tidying up leave them."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGHUP)}
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM,))
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("odd_signals")
def test_a_program_that_we_start_ignores_no_signal_and_holds_none_back() -> None:
    command = ["grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status"]
    child = Child(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        child.wait(60)
        out, _ = child.output()
    finally:
        child.end()
    assert [int(mask, 16) & ~OF_THE_C_LIBRARY for mask in re.findall(r"\t([0-9a-f]+)", out)] == [0, 0]
