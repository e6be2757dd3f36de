"""Governor and turbo are set while a machine is lent, and are as they were afterwards, however it ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from probe_effect.measure.one_run import Interrupted, interruptible
from probe_effect.measure.testbed import put_back, quiet_machine, state_file

if TYPE_CHECKING:
    from pathlib import Path

CPUS = "sys/devices/system/cpu"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of two CPUs that follow their load, with turbo."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name, value in (
        ("cpu0/cpufreq/scaling_governor", "powersave\n"),
        ("cpu1/cpufreq/scaling_governor", "schedutil\n"),
        ("intel_pstate/no_turbo", "0\n"),
    ):
        path = tmp_path / CPUS / name
        path.parent.mkdir(parents=True)
        path.write_text(value, encoding="utf-8")
    return tmp_path


def settings(root: Path) -> list[str]:
    """Governors of both CPUs, and whether turbo is off."""
    names = ("cpu0/cpufreq/scaling_governor", "cpu1/cpufreq/scaling_governor", "intel_pstate/no_turbo")
    return [(root / CPUS / name).read_text(encoding="utf-8").strip() for name in names]


BEFORE, QUIET = ["powersave", "schedutil", "0"], ["performance", "performance", "1"]


def test_they_are_set_where_that_is_wanted_and_put_back_at_the_end(root: Path) -> None:
    said: list[str] = []
    with quiet_machine(said.append, is_wanted=True, root=root):
        assert settings(root) == QUIET
    assert settings(root) == BEFORE
    assert not state_file().exists()
    assert sum("scaling_governor to performance" in words for words in said) == 2


def test_nothing_is_set_where_nobody_said_so(root: Path) -> None:
    with quiet_machine(lambda _: None, is_wanted=False, root=root):
        assert settings(root) == BEFORE
        assert not state_file().exists()


def test_the_old_values_are_on_disk_before_anything_is_set(root: Path) -> None:
    known: list[object] = []

    def look(_: str) -> None:
        known.append(json.loads(state_file().read_text(encoding="utf-8")))

    with quiet_machine(look, is_wanted=True, root=root):
        values = known[0]
    assert isinstance(values, dict)
    assert sorted(values.values()) == sorted(BEFORE)


@pytest.mark.parametrize(
    "ends", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM], ids=lambda one: one.name
)
def test_whatever_ends_it_in_order_puts_them_back(root: Path, ends: signal.Signals) -> None:
    with (
        pytest.raises(Interrupted),
        interruptible(),
        quiet_machine(lambda _: None, is_wanted=True, root=root),
    ):
        os.kill(os.getpid(), ends)
    assert settings(root) == BEFORE


NOHUP = """
import os, signal
from probe_effect.measure.one_run import interruptible
signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup(1) has it
with interruptible():
    os.kill(os.getpid(), signal.SIGHUP)
    print("went on")
"""


def test_under_nohup_a_terminal_that_is_gone_ends_nothing() -> None:
    run = subprocess.run([sys.executable, "-c", NOHUP], capture_output=True, text=True, check=False)
    assert run.stdout == "went on\n"


KILLED = """
import os, pathlib, signal, sys
from probe_effect.measure.testbed import quiet_machine
with quiet_machine(print, is_wanted=True, root=pathlib.Path(sys.argv[1])):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_after_a_kill_the_next_start_puts_them_back(root: Path) -> None:
    run = subprocess.run([sys.executable, "-c", KILLED, str(root)], capture_output=True, check=False)
    assert run.returncode == -signal.SIGKILL
    assert settings(root) == QUIET
    put_back(lambda _: None)
    assert settings(root) == BEFORE
    assert not state_file().exists()


def test_what_another_at_work_has_set_is_left_to_it(root: Path) -> None:
    with quiet_machine(lambda _: None, is_wanted=True, root=root):
        put_back(lambda _: None)
        assert settings(root) == QUIET
    assert settings(root) == BEFORE


def test_a_record_that_was_torn_is_of_a_machine_on_which_nothing_was_set(root: Path) -> None:
    state_file().parent.mkdir(parents=True)
    state_file().write_text('{"/sys', encoding="utf-8")
    put_back(lambda _: None)
    assert settings(root) == BEFORE
    assert not state_file().exists()
