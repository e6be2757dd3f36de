"""One emulated machine: QEMU as a process, with a serial port of the guest as our line to it.

Time is counted in instructions: `-icount shift=0` has the guest's clock advance by 1 ns for each instruction that one
of its CPUs executes (QEMU's docs/devel/tcg-icount.rst), whatever the host does meanwhile.
"""

import os
import re
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from probe_effect.emulated.architecture import GuestArchitecture, of_the_host
from probe_effect.emulated.debian import DebianRelease
from probe_effect.emulated.initramfs import foreign, join
from probe_effect.emulated.messages import Message, decode, encode
from probe_effect.errors import ProbeEffectError
from probe_effect.host import read_text
from probe_effect.processes import Child, is_readable

RELEASE = "trixie"
"""Of Debian, whose QEMU is taken: 10.0. Before 8.1 a second CPU starves with `-icount`, which was mended by
"accel/tcg/tcg-accel-ops-rr: ensure fairness with icount"."""

FIRMWARE = ("usr/share/qemu", "usr/share/seabios")
"""Where its packages keep what a board has in its memory from the start."""

Accelerator = Literal["tcg", "kvm"]

ACCELERATION: dict[Accelerator, tuple[str, ...]] = {
    "tcg": ("-accel", "tcg", "-icount", "shift=0,sleep=off"),
    "kvm": ("-accel", "kvm"),
}

CPUS = 2
"""With `-icount` they take turns, so that the clock counts what all of them execute. The workload has one of its own:
on CPU 0 an event of bpftrace for all processes costs twice as much."""

MACHINE_OPTIONS = ("-m", "3G", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot")

BOOT_WORDS = (
    "quiet panic=-1 oops=panic nokaslr mitigations=off nowatchdog transparent_hugepage=never cgroup_disable=memory "
    "rdinit=/probe-effect/init"
)
"""Boot parameters. A panic ends the machine. Addresses and mitigations are fixed, because both would change what is
executed. Without the word on huge pages the kernel looks for pages to join every 10 s (khugepaged), which took 6
million instructions of some run. Without the word on memory it sums up what control groups use every 2 s
(`flush_memcg_stats_dwork`, mm/memcontrol.c), 1.5 million."""

TAIL_LINES = 6
PANIC = "Kernel panic - not syncing"
LOOK_EVERY_S = 0.2


class GuestLost(ProbeEffectError):
    """The guest does not answer any more; the message has why, and its console's last lines."""


@dataclass(frozen=True, slots=True)
class Image:
    """What is booted."""

    kernel: Path
    archives: tuple[Path, ...]
    """Of its initial file system, behind each other."""


@dataclass(frozen=True, slots=True)
class Emulator:
    """QEMU for one processor."""

    architecture: GuestArchitecture
    command: tuple[str, ...]
    """The words that start it."""

    def options(self, accelerator: Accelerator) -> list[str]:
        """Those that decide what the guest has for CPUs, and how they run."""
        cpu = self.architecture.cpu if accelerator == "tcg" else "host"
        return [*ACCELERATION[accelerator], *self.architecture.board, "-cpu", cpu, "-smp", str(CPUS)]

    def version(self) -> str | None:
        """The version that QEMU reports, `QEMU emulator version 10.0.13`; None if it does not run."""
        with suppress(OSError):
            run = subprocess.run([*self.command, "--version"], capture_output=True, text=True, timeout=30, check=False)
            if found := re.match(r"QEMU emulator version [\w.]+", run.stdout):
                return found[0]
        return None


def find_emulator(architecture: GuestArchitecture, cache: Path) -> Emulator:
    """Debian's emulator for that processor, which runs beside whatever this machine has; fetched before, or now.

    Raises: HostNotReady where it cannot be had.
    """
    system = DebianRelease(RELEASE, cache, of_the_host()).unpack([architecture.emulator_package]).system
    firmware = [word for folder in FIRMWARE for word in ("-L", str(system.root / folder))]
    return Emulator(architecture, (*foreign(system, architecture.emulator), *firmware))


class RunningGuest:
    """A running guest. Always `end` it."""

    def __init__(self, image: Image, emulator: Emulator, accelerator: Accelerator) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix=f"probe-effect-{os.getpid()}-vm-")
        folder, architecture = Path(self._folder.name), emulator.architecture
        self._initramfs = join(image.archives, folder / "initramfs")
        boot_words = f"{architecture.boot_words} LINE={architecture.port} {BOOT_WORDS}"
        with (folder / "errors").open("wb") as errors:
            self._child = Child(
                [
                    *emulator.command,
                    *emulator.options(accelerator),
                    *MACHINE_OPTIONS,
                    *("-serial", f"file:{folder / 'console'}"),
                    *("-chardev", "stdio,id=line,signal=off", *architecture.line),
                    *("-kernel", str(image.kernel), "-initrd", str(self._initramfs), "-append", boot_words),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors.fileno(),
            )
        self._received = b""
        self._number = 0

    def wait_for_boot(self, timeout_s: float) -> None:
        """Return when the program inside is ready. Raises: GuestLost."""
        self._answer(0, timeout_s, f"it had not booted after {timeout_s:.0f} s")
        self._initramfs.unlink()  # it is in the guest's memory now, and half a gigabyte

    def ask(self, request: Message, timeout_s: float) -> Message:
        """The answer to a request. Raises: GuestLost when there is none; ProbeEffectError in the guest's own words."""
        self._number += 1
        self._child.tell(encode(request | {"number": self._number}).decode())
        answer = self._answer(self._number, timeout_s, f"it had not answered after {timeout_s:.0f} s")
        if "error" in answer:
            raise ProbeEffectError(answer["error"])
        return answer

    def end(self) -> None:
        """Make sure that the emulator has ended."""
        self._child.end()
        self._folder.cleanup()

    def _answer(self, number: int, timeout_s: float, otherwise: str) -> Message:
        deadline_s = time.monotonic() + timeout_s
        while time.monotonic() < deadline_s:
            message = self._message(LOOK_EVERY_S)
            if message is not None and message.get("number") == number:
                return message
        raise GuestLost(self._why(otherwise))

    def _message(self, timeout_s: float) -> Message | None:
        """The next message, if one comes in that time. Raises: GuestLost when the emulator has ended."""
        while b"\n" not in self._received:
            if not is_readable(self._child.stdout, timeout_s):
                return None
            got = os.read(self._child.stdout, 1 << 16)
            if not got:
                raise GuestLost(self._why(f"the emulator ended with status {self._child.end().exit_status}"))
            self._received += got
        line, _, self._received = self._received.partition(b"\n")
        return decode(line)

    def _why(self, what: str) -> str:
        folder = Path(self._folder.name)
        console, errors = (read_text(folder, name) or "" for name in ("console", "errors"))
        if (place := console.find(PANIC)) >= 0:
            what = f"its kernel panicked: {console[place:].splitlines()[0]}"
        said = [line for line in errors.splitlines() if line.strip()][:2]
        tail = [line.strip() for line in console.splitlines() if line.strip()][-TAIL_LINES:]
        parts = [what, *said, f"its console's last lines: {' | '.join(tail) or 'none'}"]
        return "the emulated machine is lost: " + "; ".join(parts)
