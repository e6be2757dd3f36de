"""The image to boot: a kernel and the archives of its file system, with Debian's userland and tracers.

A tracer is known by the packages that bring it; a project's source is as Debian has it.
"""

import hashlib
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import elftools

import probe_effect
from probe_effect.guests import debian
from probe_effect.guests.anatomy import MARKED
from probe_effect.guests.debian import KernelImage
from probe_effect.guests.guest import CONFIG, LIBRARY, PLACE, PREBUILT, WORKLOADS, in_guest
from probe_effect.guests.qemu import Emulator, Image, archive, compile_python, find_emulator, wrapper
from probe_effect.host.compilers import CompiledProgram, Sysroot, c_compiler_for
from probe_effect.host.workloads import INSTEAD, Tree, build
from probe_effect.measure.request import Work
from probe_effect.model import HostNotReady, Need, UsageError
from probe_effect.records import TOOLS
from probe_effect.store.suite_file import Project, tools_of
from probe_effect.tracers.libbpf import CLANG, prebuild
from probe_effect.tracers.protocol import Tracer, TracerState

FROM_ELSEWHERE = re.compile(
    rf"(?P<tracer>[a-z-]+)=(?P<package>{debian.PACKAGE.pattern})/(?P<release>{debian.RELEASE.pattern})"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A tracer to bring: of the guest's own release, or another release's package."""

    tracer: str
    package: str | None = None
    release: str | None = None

    @property
    def place(self) -> str:
        return f"/opt/{self.package}-{self.release}"

    @property
    def packages(self) -> tuple[str, ...]:
        return TOOLS[self.tracer].guest_packages or ()

    @property
    def program(self) -> str:
        return TOOLS[self.tracer].program if self.tracer in TOOLS else self.tracer

    @property
    def path(self) -> str:
        return f"{self.place}/run-{self.program}"

    @property
    def word(self) -> str:
        """The tracer's word for the program inside, in the form of `--tracer` on a real machine."""
        return self.tracer if self.package is None else f"{self.tracer}={self.path}"


def wanted(words: Sequence[str]) -> list[Wanted]:
    """The tracers that a user names, each once: `libbpf`, or `bpftrace=bpftrace/trixie`.

    Raises: UsageError for another form, and for a tracer that the guest's release does not have.
    """
    names, tracers = _offered(), []
    for word in dict.fromkeys(words):
        if match := FROM_ELSEWHERE.fullmatch(word):
            tracers.append(Wanted(match["tracer"], match["package"], match["release"]))
        elif word in names:
            tracers.append(Wanted(word))
        else:
            raise UsageError(
                f"{word}: in an emulated machine a tracer is named NAME, or NAME=PACKAGE/RELEASE such as "
                f"bpftrace=bpftrace/trixie; names: {', '.join(names)}"
            )
    return tracers


def _offered() -> list[str]:
    return [tool.name for tool in TOOLS.values() if tool.guest_packages is not None]


def can_bring(tracer: str) -> bool:
    """Whether a guest can have the tracer's scripts: those of libbpf are compiled on this machine."""
    return tracer != "libbpf" or shutil.which(CLANG) is not None


def offered(suites: Iterable[Path], *, quick: bool) -> list[Wanted]:
    """The tracers to bring where none is named: those that the suites have scripts for; for a first look the first.

    libbpf's scripts are compiled on this machine, so it is left out where there is no clang.
    """
    scripted = {tool for folder in suites for tool in tools_of(folder)}
    able = [Wanted(tracer) for tracer in _offered() if tracer in scripted and can_bring(tracer)]
    return [wanted for wanted in able if wanted == able[0] or wanted.tracer == "dormant"] if quick else able


@dataclass(frozen=True, slots=True)
class GuestTracer(Tracer):
    """A tracer as it described itself inside; it runs only there, and the program inside makes its sessions."""

    said: TracerState

    def available(self) -> str | None:
        return self.said.unavailable

    def version(self) -> str | None:
        return self.said.version

    def missing(self, need: Need) -> str | None:
        return self.said.lacks.get(need)


DIGITS = 16


def fetched(project: Project, cache: Path, tell: Callable[[str], None]) -> Tree:
    """The source tree of a project.

    What is in `cache` is not fetched again; `tell` is told when something is. Raises: HostNotReady where it cannot be
        had, with what to do instead.
    """
    own, name = cache / "projects", f"{project.package}-{project.version}"
    folder = own / project.sha256[:DIGITS] / name
    with debian.locked(own):
        if not folder.is_dir():
            tell(f"fetching the source of {name} from Debian {project.release}, once; it is kept in {folder}")
            _unpack(_archive(project, own), folder)
    return Tree(folder, f"{name}, sha256 {project.sha256[:DIGITS]}", project.configure)


def _archive(project: Project, own: Path) -> Path:
    """The archive, as apt has checked it. Raises: HostNotReady."""
    try:
        archive = debian.DebianRelease(project.release, own, kind="deb-src").fetch_source(project.package)
    except HostNotReady as error:
        raise HostNotReady(f"{error}\n{INSTEAD}") from error
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != project.sha256:
        raise HostNotReady(
            f"{archive.name} of Debian {project.release} has the SHA-256 {digest}, and the suite builds "
            f"{project.version} with {project.sha256}\n{INSTEAD}"
        )
    return archive


def _unpack(archive: Path, folder: Path) -> None:
    """The one folder of an archive, whole or not at all. Raises: HostNotReady."""
    try:
        with debian.made_whole(folder) as made, tarfile.open(archive) as files:
            # Pythons before 3.11.4 have no filters; the archive's hash is the suite's.
            files.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
            files.extractall(made.with_name("archive"))  # noqa: S202
            (top,) = made.with_name("archive").iterdir()
            top.rename(made)
    except (OSError, ValueError, tarfile.TarError) as error:
        raise HostNotReady(f"{archive}: cannot be unpacked: {error}") from error


FORM = "1"  # the version of the archives' form: raise it when the same packages should give other archives
INIT = Path(__file__).resolve().with_name("init.sh")


def userland(unpacked: debian.Unpacked, python: Sysroot, cache: Path) -> Path:
    """The userland, its Python compiled beforehand by that of a system which runs here."""
    target = _kept(cache, unpacked.digest)
    if not target.is_file():
        compile_python(python, unpacked.folder / "usr/lib")
    return archive(unpacked.folder, target)


def from_elsewhere(wanted_tracer: Wanted, unpacked: debian.Unpacked, cache: Path) -> Path:
    """A tracer of another release in a place of its own, with what runs it there."""
    target = _kept(cache, f"{wanted_tracer.tracer}-{unpacked.digest}")
    if target.is_file():
        return target
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as fresh:
        root = Path(fresh) / "root"
        shutil.copytree(unpacked.folder, _inside(root, wanted_tracer.place), symlinks=True, copy_function=os.link)
        _write(
            _inside(root, wanted_tracer.path),
            wrapper(unpacked.system, Path(wanted_tracer.place), wanted_tracer.program),
            is_program=True,
        )
        # What a program reads itself, as DTrace its D libraries, it looks for in its own folders and nowhere else.
        for name in (
            f"usr/lib/{unpacked.system.triplet}/{wanted_tracer.program}",
            f"usr/share/{wanted_tracer.program}",
        ):
            if (unpacked.folder / name).is_dir():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).symlink_to(f"{wanted_tracer.place}/{name}")
        return archive(root, target)


def own(
    kernel: KernelImage,
    programs: Iterable[Path],
    scripts: Iterable[Path],
    *,
    python: Sysroot,
    sdk: Sysroot,
    cache: Path,
) -> Path:
    """The archive of our own files: the program inside, workloads, scripts, and compiled scripts.

    The kernel's build options are put where tracers look for them. Of the scripts, those of libbpf are compiled too,
    against the headers and libraries of `sdk`. `python` is a system which runs here, whose Python compiles modules
    beforehand.
    """
    scripts = list(scripts)
    with tempfile.TemporaryDirectory(dir=cache) as fresh:
        root = Path(fresh)
        _write(_inside(root, f"{PLACE}/init"), INIT.read_text(encoding="utf-8"), is_program=True)
        _program_inside(_inside(root, LIBRARY), python)
        copies = {path: f"{WORKLOADS}/{path.name}" for path in programs} | {path: in_guest(path) for path in scripts}
        copies |= {kernel.config: f"{CONFIG}/config"} if kernel.config else {}
        for path, target in copies.items():
            _copy(path, _inside(root, target))
        if compiled := [path for path in scripts if path.name.endswith(TOOLS["libbpf"].ending)]:
            prebuild(compiled, _inside(root, PREBUILT), cache, sdk)
        hashed = hashlib.sha256()
        for path in sorted(path for path in root.rglob("*") if path.is_file()):
            hashed.update(f"{path.relative_to(root)}\0{path.stat().st_size}\0".encode() + path.read_bytes())
        return archive(root, _kept(cache, f"own-{hashed.hexdigest()[:DIGITS]}"))


def _program_inside(library: Path, python: Sysroot) -> None:
    for package in (probe_effect, elftools):
        source = Path(str(package.__file__)).parent
        for path in (*source.rglob("*.py"), *source.rglob("*.toml")):
            _copy(path, library / source.name / path.relative_to(source))
    # By this file a package knows its version.
    _write(library / "probe_effect.dist-info/METADATA", f"Name: probe-effect\nVersion: {probe_effect.__version__}\n")
    compile_python(python, library)


def _kept(cache: Path, name: str) -> Path:
    return cache / "archives" / FORM / f"{name}.cpio"


def _inside(root: Path, path: str) -> Path:
    return root / path.removeprefix("/")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)


def _write(path: Path, text: str, *, is_program: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755 if is_program else 0o644)


USERLAND = "bookworm"
"""The release inside, for every kernel, so that the probed C library is the same for all kernels."""

PYTHON_PACKAGES = ("python3-minimal", "libpython3-stdlib")
BASE_PACKAGES = ("base-files", "busybox-static", "libc-bin", "linux-libc-dev", *PYTHON_PACKAGES)
"""Packages of the userland; bpftrace 0.17 needs the kernel's headers for some tracepoints of Linux 5.10."""
SDK_PACKAGES = ("libc6-dev", "libbpf-dev", "systemtap-sdt-dev")
"""Packages to compile workloads and BPF programs against; they stay on the host."""

HOST_PROGRAMS = {"cpio": "cpio", "apt-get": "apt", "dpkg-deb": "dpkg"}  # the package that has each program


@dataclass(frozen=True, slots=True)
class Assembly:
    """An image, the workloads in it, and its origins."""

    emulator: Emulator
    image: Image
    programs: dict[Path, CompiledProgram]
    """Workload's source to the compiled program."""
    packages: dict[str, str]
    """`kernel`, `userland`, or a tracer as it was named, to the package with its version and release."""
    config: Path | None
    """The kernel's build options."""


def assemble(
    architecture: debian.GuestArchitecture,
    kernel: KernelImage,
    tracers: Sequence[Wanted],
    works: Sequence[Work],
    cache: Path,
    *,
    records: bool = False,
    more: Sequence[Path] = (),
) -> Assembly:
    """The image for a kernel, with these tracers and suites, and what emulates it.

    `cache` is our folder for everything that is downloaded or made. `records`: whether paths of events will be;
    `more`: sources of further programs.
    Raises: HostNotReady where a program or package cannot be had; ProbeEffectError where something cannot be made.
    """
    debian.check_programs(host_programs(architecture))
    native = [wanted_tracer for wanted_tracer in tracers if wanted_tracer.release is None]
    names = sorted({name for wanted_tracer in native for name in wanted_tracer.packages})
    own_release = debian.DebianRelease(USERLAND, cache, architecture)
    base, sdk = own_release.unpack([*BASE_PACKAGES, *names]), own_release.unpack(SDK_PACKAGES).system
    python = debian.DebianRelease(USERLAND, cache, debian.of_the_host()).unpack(PYTHON_PACKAGES).system
    others = {
        wanted_tracer: debian.DebianRelease(wanted_tracer.release, cache, architecture).unpack([wanted_tracer.package])
        for wanted_tracer in tracers
        if wanted_tracer.release and wanted_tracer.package
    }
    programs = {
        source: build(source, cache, system=sdk, more=MARKED if records else ())
        for source in (*(work.source() for work in works), *more)
    }
    compiled = [program.path for program in programs.values()]
    endings = tuple(TOOLS[tracer.tracer].ending for tracer in tracers)
    scripts = sorted(path for work in works for path in work.folder.iterdir() if path.name.endswith(endings))
    archives = (
        userland(base, python, cache),
        *(from_elsewhere(wanted_tracer, unpacked, cache) for wanted_tracer, unpacked in others.items()),
        own(kernel, compiled, scripts, python=python, sdk=sdk, cache=cache),
    )
    packages = {"kernel": kernel.origin, "userland": base.origin("libc6")}
    packages |= {
        wanted_tracer.word: base.origin(wanted_tracer.packages[0]) for wanted_tracer in native if wanted_tracer.packages
    }
    packages |= {
        wanted_tracer.word: unpacked.origin(str(wanted_tracer.package)) for wanted_tracer, unpacked in others.items()
    }
    emulator = find_emulator(architecture, cache)
    return Assembly(emulator, Image(kernel.image, archives), programs, packages, kernel.config)


def host_programs(architecture: debian.GuestArchitecture) -> dict[str, str]:
    """Programs that have to be here to put an emulated machine together, each with the package that brings it."""
    return HOST_PROGRAMS | dict([c_compiler_for(architecture.machine)])
