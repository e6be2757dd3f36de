"""From a script's attach point to every place of this system that it matches.

Static probes of programs (USDT): their places in an ELF file.

Source: the notes of systemtap's sys/sdt.h: in each, the address of the probe, that of `.stapsdt.base` when it was
linked, that of its semaphore, and three texts (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation).

What bpftrace lists, it finds in the same files: tracefs for static probes of the kernel, ELF symbols and notes
for those of programs (its `probe_matcher.cpp`); asking the files takes milliseconds, and bpftrace itself seconds.
"""

import re
import shutil
import struct
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection

from probe_effect.host import read_text, run_program, symbols
from probe_effect.host.kernel import missing, tracefs_folder, tracefs_missing
from probe_effect.model import Need, ProbeEffectError
from probe_effect.records import beside
from probe_effect.scripts.form import Language

EVERY_CALL = "tracepoint:raw_syscalls:sys_enter"

PARTS = re.compile(r'(?:"[^"]*"|[^:"])+|(?<=:)(?=:)')
"""The parts between colons; colons in quotation marks, as in C++ names, divide nothing."""

_FACTS: dict[str, Any] = beside(__file__)

D_PLACES: dict[str, str] = _FACTS["d"]
"""Patterns of attach points of D to those of bpftrace."""
D_USER_STATIC = re.compile(r"(?P<provider>[A-Za-z_]\w*?)(?:\$target|\d+):(?P<file>[^:]*):[^:]*:(?P<name>[\w*-]+)")
"""A process has the providers of all others."""


def as_bpftrace(attach: str, kind: str, language: Language) -> str | None:
    """`tracepoint:syscalls:sys_enter_read` for `syscall::read:entry`; None if there is no such place on Linux.

    strace stops a process at every system call, also at those that it does not print.
    """
    if language == "bpftrace":
        return attach
    if language == "strace" or (language == "perf" and kind == "system-call"):
        return EVERY_CALL
    if language == "d":
        for pattern, template in D_PLACES.items():
            if match := re.fullmatch(pattern, attach):
                return match.expand(template)
        match = D_USER_STATIC.fullmatch(attach)
        return f"usdt:{match['file']}:{match['provider']}:{match['name'].replace('-', '__')}" if match else None
    if kind in {"software", "hardware"}:
        return f"{kind}:{attach.partition(':')[0]}:"
    return f"tracepoint:{attach}" if kind.startswith(("tracepoint", "raw-tracepoint")) else None


def parts(attach: str) -> list[str]:
    """`["uprobe", "/bin/a", "main"]` for `uprobe:/bin/a:main`."""
    return [match.group() for match in PARTS.finditer(attach)]


MOST_SITES = 100_000

NOTES, BASE = ".note.stapsdt", ".stapsdt.base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one probe is set: a static probe of the kernel (`sched:sched_switch`), a function, or a place in a file.

    `offset` and `first_bytes`: the place in a program's file at `path`, and the bytes there.
    `semaphore_offset`: of a static probe that has one, the count of those that watch it.
    """

    kind: str
    name: str
    path: Path | None = None
    offset: int | None = None
    first_bytes: bytes | None = None
    semaphore_offset: int | None = None


def static_probes(path: Path) -> list[Place]:
    """All sites of static probes in a file, in its order; none if it has none, or is no ELF file."""
    try:
        with symbols.elf_file(path) as elf:
            return list(islice(_sites(path, elf), MOST_SITES))
    except (OSError, ELFError):
        return []


def _sites(path: Path, elf: ELFFile) -> Iterator[Place]:
    notes, base = elf.get_section_by_name(NOTES), elf.get_section_by_name(BASE)
    if not isinstance(notes, NoteSection):
        return
    word = "Q" if elf.elfclass == 64 else "I"
    segments = symbols.loaded(elf)
    head = struct.Struct(f"{'<' if elf.little_endian else '>'}3{word}")
    for note in notes.iter_notes():
        if note["n_name"] != "stapsdt":
            continue
        data: bytes = note["n_descdata"]
        address, linked_base, semaphore = head.unpack_from(data)
        provider, name = data[head.size :].split(b"\0")[:2]
        moved = base["sh_addr"] - linked_base if base is not None else 0  # prelink(8) moves a file's addresses
        offset = symbols.offset_of(address + moved, segments)
        if offset is None or not (provider + name).decode().isprintable():
            continue
        elf.stream.seek(offset)
        yield Place(
            kind="usdt",
            name=f"{provider.decode()}:{name.decode()}",
            path=path,
            offset=offset,
            first_bytes=elf.stream.read(symbols.FIRST_BYTES),
            semaphore_offset=symbols.offset_of(semaphore + moved, segments) if semaphore else None,
        )


NEEDS: dict[str, Need] = _FACTS["needs"]
"""What the kernel must have for each kind of probe."""
KERNEL_FUNCTIONS = ("kprobe", "kretprobe", "fentry", "fexit")

AS_TRACEPOINTS: dict[str, str] = _FACTS["software"]
"""Events that the kernel counts itself to the static probes that fire with them."""


class NotHere(ProbeEffectError):
    """This system does not have a probe; the message says why."""


def places(attach: str, kind: str, root: Path, pid: int | None = None) -> list[Place]:
    """Every place that an attach point matches, by name.

    Args:
        attach: in bpftrace's words (`as_bpftrace`), such as `tracepoint:syscalls:sys_enter_*`.
        kind: as `ScriptProbe.kind` has it.
        root: root of the file system, where tracefs is looked for.
        pid: the process in which libraries named without a path are looked for; else the system's own.

    Raises: NotHere, with what to do, if anything.
    """
    need = NEEDS.get(kind)
    if need is not None and (why := missing(need, root)):
        raise NotHere(f"{attach}: {why}")
    words = parts(attach)[1:]
    if kind in KERNEL_FUNCTIONS:
        probe_sites = [Place(kind=kind, name=name) for name in _kernel_functions(words[-1].partition("+")[0], root)]
    elif kind in ("uprobe", "uretprobe"):
        probe_sites = list(_functions(attach, kind, words, root, pid))
    elif kind == "usdt":
        probe_sites = list(_static(words, root, pid))
    else:
        probe_sites = [Place(kind=kind, name=name) for name in _tracepoints(attach, words, root)]
    if not probe_sites:
        raise NotHere(f"{attach}: nothing here matches it; `bpftrace -l '{attach}'` lists what does")
    return probe_sites


def _tracepoints(attach: str, words: list[str], root: Path) -> list[str]:
    """`sched:sched_switch` for each that matches; those of system calls whatever their category's name."""
    if why := tracefs_missing(root):
        raise NotHere(f"{attach}: {why}")
    pattern = ":".join(words)
    if attach.startswith("software:"):
        if words[0] not in AS_TRACEPOINTS:
            raise NotHere(f"{attach}: no static probe fires with it, so its rate cannot be counted without it")
        pattern = AS_TRACEPOINTS[words[0]]
    elif attach.startswith("rawtracepoint:"):
        pattern = f"*:{words[-1]}"
    return _matching(_available(tracefs_folder(root)), pattern)


@cache
def _available(folder: Path | None) -> tuple[str, ...]:
    return tuple((read_text(folder, "available_events") or "").split()) if folder else ()


def _kernel_functions(pattern: str, root: Path) -> list[str]:
    """The kernel functions in ftrace's list; if we cannot read that, those among the kernel's symbols."""
    folder = tracefs_folder(root)
    text = read_text(folder, "available_filter_functions") if folder else None
    if text is None:
        lines = (line.split() for line in (read_text(root, "proc/kallsyms") or "").splitlines())
        names = {words[2] for words in lines if words[1] in "tT"}
    else:
        names = {line.split()[0] for line in text.splitlines() if line}
    return _matching(names, pattern)


def _functions(attach: str, kind: str, words: list[str], root: Path, pid: int | None) -> Iterator[Place]:
    """The functions of a file; `function+8` is a place in one, and `0x401136` an address."""
    name, _, distance = words[-1].strip('"').partition("+")
    try:
        inside = int(distance, 0) if distance else 0
    except ValueError:
        msg = f"{attach}: found “{distance}” behind the “+”, expected how many bytes behind the function's start"
        raise NotHere(msg) from None
    for path in _files(words[0], root, pid):
        if "*" in name:
            functions = symbols.matching_functions(path, name)
        else:
            function = symbols.find_function(path, name)
            functions = {} if function is None else {name: function}
        if not functions and not symbols.matching_functions(path, "*"):
            msg = f"{attach}: {path} has no table of symbols; its package may have one apart (-dbgsym, debuginfo)"
            raise NotHere(msg)
        for function_name, at in functions.items():
            first_bytes = None if inside else at.first_bytes
            yield Place(kind=kind, name=function_name, path=path, offset=at.offset + inside, first_bytes=first_bytes)


def same_function_elsewhere(probe_site: Place, pid: int) -> list[Path]:
    """The other files of a process with a function of this name, one of which may be the one that it calls.

    A library that replaces the C library's allocator is the usual case: its `malloc` is found first (ld.so(8)).
    """
    if probe_site.path is None:
        return []
    own = probe_site.path.resolve()
    others = (Path(path) for path in symbols.mapped_files(pid))
    return [
        path for path in others if path.resolve() != own and symbols.find_function(path, probe_site.name) is not None
    ]


def _static(words: list[str], root: Path, pid: int | None) -> Iterator[Place]:
    """The static probes of a file; `usdt:PATH:NAME` has no provider."""
    provider, name = (words[1], words[2]) if len(words) > 2 else ("*", words[-1])
    wanted = _glob(f"{provider or '*'}:{name}")
    for path in _files(words[0], root, pid):
        yield from (site for site in static_probes(path) if wanted.fullmatch(site.name))


def _files(named: str, root: Path, pid: int | None) -> list[Path]:
    """The files that an attach point names: by a path that may have wildcards, a program's or a library's name.

    Raises: NotHere if there is no such file.
    """
    if "/" in named:
        pattern = named.lstrip("/")
        paths = sorted(root.glob(pattern)) if "*" in pattern else [root / pattern]
        files = [path for path in paths if path.is_file()]
    else:
        location = (symbols.library_of(pid, named) if pid else None) or shutil.which(named) or _library(named)
        files = [Path(location)] if location else []
    if not files:
        raise NotHere(f"{named}: no such program or library here; name it by its path")
    return files


def _library(stem: str) -> str | None:
    """The path that the dynamic linker's cache has for `libc` or `libc.so.6` (ldconfig(8))."""
    program = shutil.which("ldconfig") or "/sbin/ldconfig"
    try:
        listed = run_program([program, "-p"], 10).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (line.split() for line in listed.splitlines() if "=>" in line)
    return next((line[-1] for line in lines if line[0] == stem or line[0].startswith(f"{stem}.so")), None)


def _glob(pattern: str) -> re.Pattern[str]:
    """The pattern of a wildcard, where `*` matches anything and every other character itself, as in bpftrace."""
    return re.compile(".*".join(map(re.escape, pattern.split("*"))))


def _matching(names: Iterable[str], pattern: str) -> list[str]:
    wanted = _glob(pattern)
    return sorted(name for name in names if wanted.fullmatch(name))
