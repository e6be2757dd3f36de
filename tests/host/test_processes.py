"""Programs that we start begin as from a terminal, whatever our own caller asked of signals."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from probe_effect.host.processes import Child, end_descriptor, is_readable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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


LONG_S = 60.0


@pytest.fixture
def illumos(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python whose system tells of no process's end by a descriptor."""
    monkeypatch.delattr(os, "pidfd_open")
    monkeypatch.delattr(select, "kqueue", raising=False)


@pytest.mark.usefixtures("illumos")
def test_a_program_is_waited_for_where_the_kernel_has_no_descriptor_of_its_end() -> None:
    child = Child(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert child.wait(0) is None
        child.send(signal.SIGTERM)
        ended = child.wait(LONG_S)
    finally:
        child.end()
    assert ended is not None
    assert ended.exit_status == -signal.SIGTERM


@pytest.mark.usefixtures("illumos")
def test_the_end_of_a_process_that_is_not_our_own_is_seen_there_too() -> None:
    starter = ["/bin/sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!"]
    pid = int(subprocess.run(starter, capture_output=True, text=True, check=True).stdout)
    descriptor = end_descriptor(pid)
    try:
        assert not is_readable(descriptor, 0)
        os.kill(pid, signal.SIGKILL)
        assert is_readable(descriptor, LONG_S)
    finally:
        os.close(descriptor)


@pytest.mark.usefixtures("illumos")
def test_a_process_that_is_not_there_is_missed_there_too() -> None:
    with subprocess.Popen(["/bin/sh", "-c", ":"]) as gone:
        pass
    with pytest.raises(ProcessLookupError):
        end_descriptor(gone.pid)


def test_a_setpriv_that_cannot_tell_of_deaths_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """BusyBox's, as Alpine has it."""
    (tmp_path / "setpriv").write_text("#!/bin/sh\necho \"setpriv: unrecognized option '$1'\" >&2\nexit 1\n", "utf-8")
    (tmp_path / "setpriv").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    child = Child(["true"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        ended = child.wait(60)
    finally:
        child.end()
    assert ended is not None
    assert ended.exit_status == 0
