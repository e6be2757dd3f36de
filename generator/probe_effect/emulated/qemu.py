"""One emulated machine: QEMU as a process, with the guest's second serial port as our line to it.

Time is counted in instructions: `-icount shift=0` has the guest's clock advance by 1 ns for each instruction that its
only CPU executes (QEMU's docs/devel/tcg-icount.rst), whatever the host does meanwhile.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from probe_effect.emulated.initramfs import join
from probe_effect.emulated.messages import decode, encode
from probe_effect.errors import ProbeEffectError
from probe_effect.host import read_text
from probe_effect.processes import Child, is_readable

if TYPE_CHECKING:
    from probe_effect.emulated.messages import Message

PROGRAM = "qemu-system-x86_64"
Accelerator = Literal["tcg", "kvm"]

OPTIONS: dict[Accelerator, tuple[str, ...]] = {
    "tcg": ("-accel", "tcg", "-icount", "shift=0", "-cpu", "max", "-smp", "1"),
    "kvm": ("-accel", "kvm", "-cpu", "host", "-smp", "2"),
}
"""With `-icount` there can be one CPU only, which workload and tracer share."""

MACHINE_OPTIONS = ("-m", "3G", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot")

BOOT_WORDS = (
    "console=ttyS0 quiet panic=-1 oops=panic nokaslr mitigations=off nowatchdog clocksource=tsc tsc=reliable "
    "transparent_hugepage=never rdinit=/probe-effect/init"
)
"""A panic ends the machine. Addresses and mitigations are fixed: both would change what is executed. Without the
clock's words the kernel would leave the time stamp counter for a clock whose reads leave the emulated CPU. Without the
last ones it looks for pages to join every 10 s (khugepaged), which took 6 million instructions of some run."""

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


class Guest:
    """A running guest. Always `end` it."""

    def __init__(self, image: Image, accelerator: Accelerator) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix=f"probe-effect-{os.getpid()}-vm-")
        folder = Path(self._folder.name)
        self._initramfs = join(image.archives, folder / "initramfs")
        with (folder / "errors").open("wb") as errors:
            self._child = Child(
                [
                    PROGRAM,
                    *OPTIONS[accelerator],
                    *MACHINE_OPTIONS,
                    *("-serial", f"file:{folder / 'console'}"),
                    *("-chardev", "stdio,id=line,signal=off", "-serial", "chardev:line"),
                    *("-kernel", str(image.kernel), "-initrd", str(self._initramfs), "-append", BOOT_WORDS),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors.fileno(),
            )
        self._received = b""
        self._number = 0

    @property
    def pid(self) -> int:
        """Process id of the emulator."""
        return self._child.pid

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


def version() -> str | None:
    """What the emulator says of itself: `QEMU emulator version 7.2.22`; None when it is not installed."""
    with suppress(OSError):
        run = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, timeout=30, check=False)
        if found := re.match(r"QEMU emulator version [\w.]+", run.stdout):
            return found[0]
    return None
