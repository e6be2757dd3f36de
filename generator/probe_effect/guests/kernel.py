"""What an emulated machine boots: kernels of a release of Debian, and an initial RAM file system.

The kernel unpacks archives that follow each other into one tree (Documentation/driver-api/early-userspace/
buffer-format.rst), so only what has changed is archived again. There are no modules, disks or networks.
"""

import hashlib
import re
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from probe_effect.guests.debian import DEFAULT, LOADERS, RELEASE, DebianRelease, GuestArchitecture, made_whole
from probe_effect.host.compilers import Sysroot
from probe_effect.model import HostNotReady, ProbeEffectError, UsageError

WANTED = re.compile(r"\./(boot|usr/lib/modules/[^/]+)/(vmlinuz|config)(-.*)?")
"""The image and the build options: in /boot, and since Linux 6.19's packages beside the modules."""

IMAGE, CONFIG = "vmlinuz", "config"

POINT_RELEASE = re.compile(r"\d+\.\d+\.\d+|linux-image-\d[a-z0-9.+~-]*")
"""A kernel by its own version, 6.12.94, or by its package's name."""

ARCHIVES = (
    *("bullseye", "bullseye-security", "bookworm", "bookworm-security", "bookworm-backports"),
    *("trixie", "trixie-security", "trixie-backports", "sid"),
)
"""Where kernels of the past are looked for: backports and security updates keep those of a year and more."""


@dataclass(frozen=True, slots=True)
class KernelImage:
    """A kernel image, its build options where they are known, and where it comes from."""

    image: Path
    config: Path | None
    origin: str
    """Package and version; for an image of the user's own its name and the beginning of its hash."""


def find_kernel(words: str, cache: Path, architecture: GuestArchitecture = DEFAULT) -> KernelImage:
    """The kernel that a user names: a release of Debian, the kernel's own version or package, or the path of an image.

    Raises: UsageError for none of these; HostNotReady where packages cannot be had.
    """
    path = Path(words)
    if path.is_file():
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        config = path.with_name(path.name.replace(IMAGE, CONFIG))
        return KernelImage(path, config if config != path and config.is_file() else None, f"{path.name} {digest}")
    if RELEASE.fullmatch(words):
        release = DebianRelease(words, cache, architecture)
        return packaged(release, newest(release)[0])
    if POINT_RELEASE.fullmatch(words):
        return packaged(*_holding(words, cache, architecture))
    msg = f"{words}: expected a release of Debian (bookworm, trixie-backports, sid), the version of a kernel (6.12.94) "
    raise UsageError(msg + "or the file of a kernel image")


def _holding(words: str, cache: Path, architecture: GuestArchitecture) -> tuple[DebianRelease, str]:
    """(the first release that has the kernel, the name of its package). Raises: HostNotReady."""
    for name in ARCHIVES:
        release = DebianRelease(name, cache, architecture)
        for package, version in release.kernels().items():
            if words in {package, re.split("[-~]", version, maxsplit=1)[0]}:
                return release, package
    raise HostNotReady(f"{words}: no such kernel for {architecture.debian} in Debian's {', '.join(ARCHIVES)}")


def newest(release: DebianRelease) -> tuple[str, list[str]]:
    """(the newest kernel of a release by its package's name, the packages that have its files).

    Raises: HostNotReady where the release has none for the architecture, or cannot be asked.
    """
    meta = f"linux-image-{release.architecture.debian}"  # depends on the newest kernel of its release
    images = release.needs(meta, r"linux-image-\d.*")
    if not images:
        msg = f"Debian {release.name} has no kernel for {release.architecture.debian}: its {meta} depends on none"
        raise HostNotReady(msg)
    return images[0], _with_files(release, images[0])


def _with_files(release: DebianRelease, image: str) -> list[str]:
    """The packages with the files: newer packages of an image are empty, and depend on those that have them."""
    return release.needs(image, r"linux-(binary|base)-\d.*") or [image]


def packaged(release: DebianRelease, image_package: str) -> KernelImage:
    """The kernel in a package of a release, of whichever build. Raises: HostNotReady."""
    packages = _with_files(release, image_package)
    files = [release.fetch_alone(package) for package in packages]
    folder = release.cache / "kernels" / files[0].stem
    if not folder.is_dir():
        with made_whole(folder) as fresh:
            fresh.mkdir()
            for file in files:
                _extract(file, fresh)
    image, config = (next(folder.glob(f"{kind}*"), None) for kind in (IMAGE, CONFIG))
    if image is None:
        raise HostNotReady(f"{', '.join(packages)} of Debian {release.name}: no file vmlinuz in it")
    _, version, _ = files[0].name.split("_", 2)
    return KernelImage(image, config, f"{image_package} {version} ({release.name})")


def _extract(package: Path, target: Path) -> None:
    """The wanted files of a package, flat in `target`; hundreds of MB of modules are left where they are."""
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as run, tarfile.open(fileobj=run.stdout, mode="r|") as files:
        for member in files:
            content = files.extractfile(member) if member.isfile() and WANTED.fullmatch(member.name) else None
            if content is not None:
                with (target / Path(member.name).name).open("wb") as file:
                    shutil.copyfileobj(content, file)


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


def foreign(system: Sysroot, program: str, place: Path | None = None) -> list[str]:
    """The words that run a program of another system with its own loader and libraries, when it is in `place`.

    Raises: ProbeEffectError where it has no such program.
    """
    root, place = system.root, place or system.root
    loader = _only(root, LOADERS[system.machine]).relative_to(root)
    path = next((folder for folder in PROGRAM_FOLDERS if (root / folder / program).exists()), None)
    if path is None:
        raise ProbeEffectError(f"{program}: no such program in its package")
    libraries = ":".join(f"{place}/{folder}/{system.triplet}" for folder in ("lib", "usr/lib"))
    return [str(place / loader), "--library-path", libraries, str(place / path / program)]


def wrapper(system: Sysroot, place: Path, program: str) -> str:
    """A shell script that runs `program` of the system, when that is in the folder `place`."""
    command = " ".join(foreign(system, program, place))
    comment = "# A program of another release of Debian: with that release's loader and libraries."
    return f'#!/bin/sh\n{comment}\nexec {command} "$@"\n'


def _only(folder: Path, pattern: str) -> Path:
    files = sorted(path for path in folder.rglob(pattern) if path.is_file())
    if not files:
        raise ProbeEffectError(f"{folder}: no {pattern} in it")
    return files[0]
