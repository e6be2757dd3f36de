"""Sources of ours, compiled on the machine that runs them: once, and kept under the hash of all that made the outcome.

The compiler's own account of itself is part of the hash, and goes into the record of a measurement. Beside a program is
its digest: one that was cut short or altered is made again, and one that another user may write does not run.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from probe_effect.host import run_program
from probe_effect.host.ownership import stranger
from probe_effect.model import HostNotReady, ProbeEffectError

COMPILE_TIMEOUT_S = 120
MACHINE = os.uname().machine


@dataclass(frozen=True, slots=True)
class CompiledProgram:
    """What a compiler made, and what compiled it."""

    path: Path
    compiler: str


@dataclass(frozen=True, slots=True)
class Sysroot:
    """Another Debian system, for which something is compiled here: its headers and libraries are taken."""

    root: Path
    machine: str
    """The processor of the system, as `uname -m` gives it."""

    @property
    def triplet(self) -> str:
        """The name of its folders of libraries and headers (Debian's multiarch)."""
        return f"{self.machine}-linux-gnu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
    """A compiler and how it is called: `command` comes before the source, `link` after it."""

    command: tuple[str, ...]
    link: tuple[str, ...] = ()
    absent: str
    """The message where the compiler is not on the PATH, with what to do."""
    system: Sysroot | None = None
    """The system that it compiles for; this one by default."""


def c_compiler_for(machine: str) -> tuple[str, str]:
    """The program that compiles C here for such a processor, and the package that brings it."""
    return ("cc", "gcc libc6-dev") if machine == MACHINE else (f"{machine}-linux-gnu-gcc", f"gcc-{machine}-linux-gnu")


def c_compiler(flags: Sequence[str], link: Sequence[str] = (), system: Sysroot | None = None) -> Compiler:
    program, package = c_compiler_for(system.machine if system else MACHINE)
    absent = f"no C compiler: `{program}` is not on the PATH. On Debian and Ubuntu: apt install {package}"
    return Compiler(command=(program, *flags), link=tuple(link), absent=absent, system=system)


def compiled(
    source: Path, compiler: Compiler, target: str, folder: Path | None = None, includes: Sequence[Path] = ()
) -> CompiledProgram:
    """What `compiler` makes of one source and of `includes`, further files of ours; made before, or now.

    `target` is kind and name of the outcome, `workloads/dd-loop`. In the folder where outcomes are kept, the user's
    cache by default, a folder named by the hash comes between them.
    Raises: HostNotReady without the compiler, or without a folder of our own that can be written; ProbeEffectError with
        the compiler's words when it refuses the source.
    """
    program = shutil.which(compiler.command[0])
    if program is None:
        raise HostNotReady(compiler.absent)
    system = compiler.system
    # The record names the other system, not where it lies here.
    named = [f"--sysroot={system.root.name}"] if system else []
    made_by = " ".join([_version(program), *named, *compiler.command[1:], *compiler.link])
    words = " ".join([made_by, *_words(system)])
    parts = (source.read_bytes(), words.encode(), *(path.read_bytes() for path in includes))
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
    kind, name = target.split("/")
    path = (folder or cache_folder()) / kind / digest / name
    for file in (path, _digest_file(path)):
        if fault := stranger(file):
            raise HostNotReady(f"{file}: would be run, but {fault}; {OTHER_CACHE}")
    if not _is_whole(path):
        own_folder(path.parent)
        _compile([program, *_words(system), *compiler.command[1:]], source, path, compiler.link)
    if system is None and path.stat().st_mode & stat.S_IXUSR and not os.access(path, os.X_OK):
        raise HostNotReady(f"{path.parent}: is on a file system that runs no programs (mounted noexec); {OTHER_CACHE}")
    return CompiledProgram(path, made_by)


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/probe-effect`, or `~/.cache/probe-effect`. Raises: HostNotReady without a home."""
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(home) if home else Path.home() / ".cache") / "probe-effect"
    except RuntimeError as error:
        raise HostNotReady(f"{error}; {OTHER_CACHE}") from error


OTHER_CACHE = "have XDG_CACHE_HOME name a folder of your own that can be written"


def own_folder(folder: Path) -> Path:
    """A folder of the cache, made where it is missing, that we can write and no other user.

    Raises: HostNotReady where there can be none.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise HostNotReady(f"{folder}: {error.strerror}; {OTHER_CACHE}") from error
    if fault := stranger(folder):
        raise HostNotReady(f"{folder}: {fault}; {OTHER_CACHE}")
    return folder


def own_cache(name: str = "") -> Path:
    """The user's cache, or the folder of this name in it. Raises: HostNotReady as above, and without a home."""
    return own_folder(cache_folder() / name)


def _words(system: Sysroot | None) -> list[str]:
    """Words that turn a compiler to another system; none for the one on which it runs.

    Source: the manual of gcc, `--sysroot` and `-B`: a compiler finds its own system's libraries by a path from its own
    place, which `--sysroot` leaves first (`cc --sysroot=.. -print-search-dirs`), and `-B` comes before them.
    """
    if system is None:
        return []
    root = system.root.absolute()
    return [f"--sysroot={root}", f"-B{root}/usr/lib/{system.triplet}"]


@cache
def _version(program: str) -> str:
    run = run_program([program, "--version"], 30)
    return run.stdout.partition("\n")[0].strip() or Path(program).name


def _digest_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _is_whole(path: Path) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == _digest_file(path).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return False


def _compile(command: Sequence[str], source: Path, path: Path, link: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder) / path.name
        whole = [*command, "-o", str(made), str(source.absolute()), *link]
        run = run_program(whole, COMPILE_TIMEOUT_S)
        if run.returncode != 0:
            msg = f"{source}: the compiler refused it. `{' '.join(whole)}` says:\n{run.stderr.strip()}"
            raise ProbeEffectError(msg)
        digest = Path(folder) / "digest"
        digest.write_text(hashlib.sha256(made.read_bytes()).hexdigest(), encoding="ascii")
        for file, target in ((made, path), (digest, _digest_file(path))):
            with file.open("rb") as written:
                os.fsync(written.fileno())  # else a power cut may leave the name without the content
            file.replace(target)  # in one step: another run may be looking
