"""One guest: QEMU as a process, with a serial port of the guest as our line, and whether hardware can run it.

Whether its clock counts instructions or takes the time is a mode of `guests.toml`.

It boots a kernel with an initial RAM file system. The kernel unpacks archives that follow each other into one tree
(Documentation/driver-api/early-userspace/buffer-format.rst), so only what has changed is archived again. There are no
modules, disks or networks.
"""

import grp
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from probe_effect.guests.debian import GUESTS, LOADERS, DebianRelease, GuestArchitecture, made_whole, of_the_host
from probe_effect.guests.guest import Message, decode, encode
from probe_effect.host import ROOT, run_program, usable_cpus
from probe_effect.host.compilers import MACHINE, Sysroot
from probe_effect.host.processes import Child, is_readable
from probe_effect.host.system import cpuinfo
from probe_effect.model import HostNotReady, ProbeEffectError

LEFT_OUT = re.compile(
    r"(^|/)usr/share/(doc|man|info|locale|lintian|bash-completion|perl|perl5|i18n)(/|$)"
    r"|(^|/)usr/lib/[^/]+/perl(-base|5)?(/|$)|\.a$"
)
"""Files that no tool needs, which would take memory, and time to unpack."""

PROGRAM_FOLDERS = ("usr/bin", "usr/sbin", "bin", "sbin")


def archive(folder: Path, target: Path) -> Path:
    """The files of `folder` as an archive; made before, or now. Raises: ProbeEffectError with cpio's words."""
    if target.is_file():
        return target
    paths = sorted(folder.rglob("*"))  # folders before what is in them
    names = (path.relative_to(folder).as_posix() for path in paths)
    with made_whole(target) as made, made.open("wb") as file:
        run = subprocess.run(
            ["cpio", "--create", "--format=newc", "--null", "--quiet", "--reproducible", "--owner=0:0"],  # noqa: S607
            cwd=folder,
            input=b"".join(name.encode() + b"\0" for name in names if not LEFT_OUT.search(name)),
            stdout=file,
            stderr=subprocess.PIPE,
            timeout=600,
            check=False,
        )
        if run.returncode != 0:
            words = run.stderr.decode(errors="replace").strip()
            raise ProbeEffectError(f"{folder}: cpio ended with status {run.returncode}: {words}")
    return target


def join(archives: Sequence[Path], target: Path) -> Path:
    """The archives concatenated in one file, as an emulator takes them."""
    with target.open("wb") as whole:
        for path in archives:
            with path.open("rb") as part:
                shutil.copyfileobj(part, whole)
            whole.write(b"\0" * (-whole.tell() % 4))
    return target


def compile_python(system: Sysroot, *folders: Path) -> None:
    """Have the Python of a system compile modules beforehand; emulated it would take minutes.

    Debian's packages compile theirs when they are installed, which they are not here. What it makes is the same for
    every processor, so the system is one that runs here.
    """
    python = _only(system.root / "usr/bin", "python3.[0-9]*").name
    options = ["-I", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    # Some modules of the tests of others do not compile; what is needed and faulty shows when it is run.
    subprocess.run(
        [*foreign(system, python), *options, *map(str, folders)],
        env={"PYTHONHOME": str(system.root / "usr")},
        capture_output=True,
        timeout=600,
        check=False,
    )


def foreign(system: Sysroot, program: str, location: Path | None = None) -> list[str]:
    """The words that run a program of another system with its own loader and libraries, when it is in `location`.

    Raises: ProbeEffectError where it has no such program.
    """
    root, location = system.root, location or system.root
    loader = _only(root, LOADERS[system.machine]).relative_to(root)
    path = next((folder for folder in PROGRAM_FOLDERS if (root / folder / program).exists()), None)
    if path is None:
        raise ProbeEffectError(f"{program}: no such program in its package")
    libraries = ":".join(f"{location}/{folder}/{system.triplet}" for folder in ("lib", "usr/lib"))
    return [str(location / loader), "--library-path", libraries, str(location / path / program)]


def wrapper(system: Sysroot, location: Path, program: str) -> str:
    """A shell script that runs `program` of the system, when that is in the folder `location`."""
    command = " ".join(foreign(system, program, location))
    comment = "# A program of another release of Debian: with that release's loader and libraries."
    return f'#!/bin/sh\n{comment}\nexec {command} "$@"\n'


def _only(folder: Path, pattern: str) -> Path:
    files = sorted(path for path in folder.rglob(pattern) if path.is_file())
    if not files:
        raise ProbeEffectError(f"{folder}: no {pattern} in it")
    return files[0]


RELEASE = "trixie"
"""The release of Debian whose QEMU is taken: 10.0. Before 8.1 a second CPU starves with `-icount`, which was mended by
"accel/tcg/tcg-accel-ops-rr: ensure fairness with icount"."""

FIRMWARE = ("usr/share/qemu", "usr/share/seabios")
"""Where its packages keep what a board has in its memory from the start."""

Accelerator = Literal["tcg", "kvm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """How a guest's CPUs run: options, boot parameters, seconds for its boot, and whether its clock counts."""

    options: tuple[str, ...]
    boot_words: str
    boot_s: float
    counts: bool


_MODES = GUESTS["modes"]
MODES: dict[Accelerator, Mode] = {
    name: Mode(**_MODES[name] | {"options": tuple(_MODES[name]["options"])}) for name in get_args(Accelerator)
}

CPUS = 2
"""With `-icount` they take turns, so that the clock counts what all of them execute. The workload has one of its own:
on CPU 0 an event of bpftrace for all processes costs twice as much."""

QMP = "control"  # name of the socket at which QEMU says which of its threads are the guest's CPUs
PANIC = "Kernel panic - not syncing"
FAULT = re.compile(r"(?:BUG: |Oops: |RIP: |pc : |Unable to handle |Internal error: ).*")
"""What a kernel that dies of a fault says of it: where, and at what. A call trace and registers follow."""
GAVE_UP = re.compile("KVM internal error|kvm run failed")
"""What QEMU says when KVM cannot go on (accel/kvm/kvm-all.c): the guest then stands still, and QEMU does not end."""
LOOK_EVERY_S = 0.2
MOST_BYTES = 32 << 20  # of an answer, at most: ten times the packed symbols of a kernel
TEXT_BYTES = 1 << 20  # how much of the end of a console is looked at


class GuestLost(ProbeEffectError):
    """The guest does not answer any more; the message has why, and its console's last lines."""


@dataclass(frozen=True, slots=True)
class Image:
    """What a guest boots."""

    kernel: Path
    archives: tuple[Path, ...]
    """The archives of its initial file system, which follow each other."""


@dataclass(frozen=True, slots=True)
class Emulator:
    """QEMU for one processor."""

    architecture: GuestArchitecture
    command: tuple[str, ...]
    """The words that start it."""

    def options(self, accelerator: Accelerator) -> list[str]:
        cpu, made_up = self.architecture.cpu, self.architecture.unless_hosts
        if accelerator == "kvm":
            has_it = made_up in cpuinfo(ROOT).get("flags", "").split()
            cpu = self.architecture.host_cpu + (f",-{made_up.replace('_', '-')}" if made_up and not has_it else "")
        return [*MODES[accelerator].options, *self.architecture.board, "-cpu", cpu, "-smp", str(CPUS)]

    def version(self) -> str | None:
        with suppress(OSError):
            run = run_program([*self.command, "--version"], 30)
            if version := re.match(r"QEMU emulator version [\w.]+", run.stdout):
                return version[0]
        return None


def find_emulator(architecture: GuestArchitecture, cache: Path) -> Emulator:
    """Debian's emulator for that processor, which runs beside whatever this machine has; fetched before, or now.

    Raises: HostNotReady where it cannot be had.
    """
    system = DebianRelease(RELEASE, cache, of_the_host()).unpack([architecture.emulator_package]).system
    firmware = [word for folder in FIRMWARE for word in ("-L", str(system.root / folder))]
    return Emulator(architecture, (*foreign(system, f"qemu-system-{architecture.machine}"), *firmware))


class RunningGuest:
    """A running guest. Always `end` it."""

    def __init__(self, image: Image, emulator: Emulator, accelerator: Accelerator, more: Sequence[str] = ()) -> None:
        """`more`: further words for the emulator."""
        self._folder = tempfile.TemporaryDirectory(prefix=f"probe-effect-{os.getpid()}-vm-")
        folder, architecture, mode = Path(self._folder.name), emulator.architecture, MODES[accelerator]
        self._initramfs = join(image.archives, folder / "initramfs")
        named = (architecture.console, architecture.clock if mode.counts else "", f"LINE={architecture.port}")
        ends = ("quiet", "panic=-1", "oops=panic")  # a panic ends the machine
        boot_words = " ".join(filter(None, (*named, *ends, mode.boot_words, "rdinit=/probe-effect/init")))
        control = () if mode.counts else ("-qmp", f"unix:{folder / QMP},server=on,wait=off")
        with (folder / "errors").open("wb") as errors:
            self._child = Child(
                [
                    *emulator.command,
                    *emulator.options(accelerator),
                    *("-m", "3G", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
                    *more,
                    *("-serial", f"file:{folder / 'console'}"),
                    *("-chardev", "stdio,id=line,signal=off", *architecture.line),
                    *control,
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

    def pin(self, workload: int, others: int) -> None:
        """Keep the guest's last CPU on the host's CPU `workload`, and all else of the emulator on `others`.

        Which threads the CPUs are, QEMU says (`query-cpus-fast`, QEMU QMP Reference Manual).
        """
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(str(Path(self._folder.name) / QMP))
            control.sendall(b'{"execute": "qmp_capabilities"} {"execute": "query-cpus-fast"}\n')
            with control.makefile(encoding="utf-8") as lines:
                answers = (json.loads(line).get("return") for line in lines)
                cpus = next(filter(None, answers))  # the first command returns nothing
        for thread in Path(f"/proc/{self._child.pid}/task").iterdir():
            with suppress(ProcessLookupError):  # it has just ended
                os.sched_setaffinity(int(thread.name), {others})
        os.sched_setaffinity(next(cpu["thread-id"] for cpu in cpus if cpu["cpu-index"] == CPUS - 1), {workload})

    def ask(self, request: Message, timeout_s: float) -> Message:
        """The answer to a request. Raises: GuestLost when there is none; ProbeEffectError in the guest's own words."""
        self._number += 1
        self._child.tell(encode(request | {"number": self._number}).decode())
        answer = self._answer(self._number, timeout_s, f"it had not answered after {timeout_s:.0f} s")
        if "error" in answer:
            raise ProbeEffectError(answer["error"])
        return answer

    def end(self) -> None:
        self._child.end()
        self._folder.cleanup()

    def _answer(self, number: int, timeout_s: float, otherwise: str) -> Message:
        deadline_s = time.monotonic() + timeout_s
        while time.monotonic() < deadline_s:
            message = self._message(LOOK_EVERY_S)
            if message is not None and message.get("number") == number:
                return message
            if GAVE_UP.search(self._text("errors")):
                otherwise = "the hardware does not go on with it"
                break
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
            if len(self._received) > MOST_BYTES and b"\n" not in got:
                raise GuestLost(self._why(f"it sent a line of more than {MOST_BYTES} bytes"))
        line, _, self._received = self._received.partition(b"\n")
        return decode(line)

    def _text(self, name: str) -> str:
        with suppress(OSError), (Path(self._folder.name) / name).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TEXT_BYTES))
            return file.read(TEXT_BYTES).decode(errors="replace").strip()
        return ""

    def _why(self, what: str) -> str:
        console, errors = self._text("console"), self._text("errors")
        if (start := console.find(PANIC)) >= 0:
            faults = FAULT.findall(console[:start])[:4]
            what = f"its kernel panicked: {' | '.join([console[start:].splitlines()[0], *faults])}"
        complaints = [line for line in errors.splitlines() if line.strip()][:2]
        tail = [line.strip() for line in console.splitlines() if line.strip()][-6:]
        parts = [what, *complaints, f"its console's last lines: {' | '.join(tail) or 'none'}"]
        return "the emulated machine is lost: " + "; ".join(parts)


MODULES = {"vmx": "kvm_intel", "svm": "kvm_amd"}
"""Flag of a CPU of x86-64 that can run guests, to the module that has it do so."""


class KvmUnusable(HostNotReady):
    """No guest can be run by the hardware; the message says why, and what to do."""


def trouble(root: Path = ROOT) -> str | None:
    """Why KVM cannot be used, with what to do; None if nothing says so."""
    device, have, flags = root / "dev/kvm", len(usable_cpus()), cpuinfo(root).get("flags", "").split()
    flag = next((flag for flag in MODULES if flag in flags), "")
    facts = {"needed": CPUS, "have": have, "flag": flag, "module": MODULES.get(flag)}
    kind = "cpus" if have < CPUS else None
    try:
        os.close(os.open(device, os.O_RDWR | os.O_CLOEXEC))
    except FileNotFoundError:
        kind = "no_module" if flag else "no_cpu" if MACHINE == "x86_64" else "no_arm"
    except PermissionError:
        groups = {group.gr_gid: group.gr_name for group in grp.getgrall() if group.gr_gid}  # root's is too much
        facts["group"] = groups.get(device.stat().st_gid)
        kind = "group" if facts["group"] else "closed"
    except OSError as error:
        facts["error"], kind = error.strerror, "broken"
    return str(GUESTS["kvm"][kind]).format(**facts) if kind else None
