"""The processors that we emulate, and for them the packages of any release of Debian, with the kernels in these.

Packages are fetched by apt into folders of our own: nothing is installed, no root is needed.

apt keeps its state in a given folder (apt.conf(5), `Dir`). With an empty list of installed packages it names everything
that a package needs; it checks signatures and hashes as always.
"""

import fcntl
import hashlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from probe_effect.host import run_program
from probe_effect.host.compilers import MACHINE, Sysroot
from probe_effect.model import HostNotReady, ProbeEffectError, UsageError
from probe_effect.records import beside

GUESTS: dict[str, dict[str, Any]] = beside(__file__, "guests")
"""How guests are started, each choice with its reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestArchitecture:
    """One of Debian's architectures, as an emulated machine has it; `guests.toml` says what each field is."""

    debian: str
    machine: str
    loader: str
    emulator_package: str
    board: tuple[str, ...]
    cpu: str
    host_cpu: str
    unless_hosts: str
    line: tuple[str, ...]
    port: str
    console: str
    clock: str


ARCHITECTURES = {
    name: GuestArchitecture(debian=name, **fields | {key: tuple(fields[key]) for key in ("board", "line")})
    for name, fields in GUESTS["processors"].items()
}
"""Debian's name to what is emulated."""

LOADERS = {guest.machine: guest.loader for guest in ARCHITECTURES.values()}
"""Processor, as `uname -m` gives it, to its dynamic loader."""

DEFAULT = ARCHITECTURES["amd64"]
"""The default processor: the same on every host, so that one command counts the same everywhere."""


def of_the_host() -> GuestArchitecture:
    """The architecture of this machine. Raises: HostNotReady where it cannot be emulated here."""
    by_machine = {architecture.machine: architecture for architecture in ARCHITECTURES.values()}
    if MACHINE not in by_machine:
        able = ", ".join(by_machine)
        raise HostNotReady(f"this machine is {MACHINE}: an emulator is to be had here for {able} only")
    return by_machine[MACHINE]


MIRROR = "http://deb.debian.org/debian"
"""The mirror if the host's apt names none; packages are signed, so the connection does not have to be."""

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
RELEASE = re.compile(r"[a-z]+(-[a-z]+)*")
PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+")
INSTALLED = re.compile(r"^Inst (\S+) \((\S+) .*\[(\w+)\]\)", re.MULTILINE)
"""A package that apt would install: name, version, architecture."""

FRESH_S = 86_400  # age up to which lists of packages are not fetched again
PROGRAMS = {"apt-get": "apt", "apt-cache": "apt", "dpkg-deb": "dpkg"}  # program to the package that brings it


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The files of some packages in one folder."""

    system: Sysroot
    """The folder as another system, with its processor."""
    digest: str
    """A hash over the packages' names and versions."""
    versions: dict[str, str]
    """The version of each package."""

    @property
    def folder(self) -> Path:
        return self.system.root

    def origin(self, package: str) -> str:
        return f"{package} {self.versions[package]} ({self.folder.name})"


@dataclass(frozen=True, slots=True)
class DebianRelease:
    """A release of Debian by its name (`bookworm`, `trixie-backports`); `cache` is our folder for all of them."""

    name: str
    cache: Path
    architecture: GuestArchitecture = DEFAULT
    """The architecture of its packages."""
    kind: Literal["deb", "deb-src"] = "deb"
    """Whether packages or their sources are taken of the release."""

    def fetch(self, packages: Sequence[str]) -> list[Path]:
        """The files of these packages and of all that they need.

        Raises: HostNotReady with apt's words, where a package is unknown or cannot be fetched.
        """
        self._update()
        command = ["apt-get", *self._options(), "install", "--no-install-recommends", "--yes", *packages]
        output = self._answer([*command, "--simulate"])
        # How apt calls the file of a package that it would install; it escapes the colon of an epoch.
        files = [
            self._archives / f"{match[1]}_{match[2].replace(':', '%3a')}_{match[3]}.deb"
            for match in INSTALLED.finditer(output)
        ]
        if not all(file.is_file() for file in files):
            self._run([*command, "--download-only"])
        return files

    def fetch_alone(self, package: str) -> Path:
        """The file of one package, without what it needs. Raises: HostNotReady as `fetch`."""
        file = self._archives / self._located(package)
        if not file.is_file():
            self._run(["apt-get", *self._options(), "download", package], self._archives)
        return file

    def version(self, package: str) -> str:
        """The version of a package that the release has now. Raises: HostNotReady as `fetch`."""
        return _name_and_version(Path(self._located(package)))[1]

    def fetch_source(self, package: str) -> Path:
        """The archive of a package's source as its authors released it. Raises: HostNotReady as `fetch`."""
        self._update()
        with tempfile.TemporaryDirectory(dir=self._state) as fresh:  # apt passes over what lies where it is called
            output = self._run(
                ["apt-get", *self._options(), "source", "--download-only", "--tar-only", package], Path(fresh)
            )
            archives = [path for path in Path(fresh).iterdir() if re.fullmatch(r"\S+\.orig\.tar\.\w+", path.name)]
            if len(archives) != 1:
                raise HostNotReady(f"{package}: apt fetched no archive of its authors' source: {output.strip()}")
            return archives[0].rename(self._archives / archives[0].name)

    def unpack(self, packages: Sequence[str]) -> Unpacked:
        """These packages with all that they need, in one folder; what was unpacked before is not unpacked again."""
        files = self.fetch(packages)
        digest = hashlib.sha256("\n".join(file.name for file in files).encode()).hexdigest()[:16]
        folder = self.cache / "unpacked" / digest / self.name
        if not folder.is_dir():
            with made_whole(folder) as fresh:
                for file in files:
                    _run(["dpkg-deb", "--extract", str(file), str(fresh)])
        return Unpacked(
            Sysroot(folder, self.architecture.machine), digest, dict(_name_and_version(file) for file in files)
        )

    def needs(self, package: str, pattern: str) -> list[str]:
        """Names of the packages that `package` depends on itself, of those that match the regular expression."""
        self._update()
        output = self._answer(["apt-cache", *self._options(), "depends", package])
        return [match[1] for match in re.finditer(r"Depends: (\S+)", output) if re.fullmatch(pattern, match[1])]

    def kernels(self) -> dict[str, str]:
        """Every kernel that the release still has, of the usual build: package to version. Raises: HostNotReady."""
        self._update()
        names = self._answer(["apt-cache", *self._options(), "pkgnames", "linux-image-"]).split()
        # Of two numbers alone, linux-image-6.12-amd64, is the name of an empty package, which needs the newest of them.
        usual = re.compile(rf"linux-image-\d+\.\d+\.\d[\d.]*(-\d+|\+deb[\d.]+)?-{self.architecture.debian}")
        images = sorted(filter(usual.fullmatch, names))
        if not images:
            return {}
        output = self._answer(["apt-cache", *self._options(), "madison", *images])
        fields = ([field.strip() for field in line.split("|")] for line in output.splitlines())
        return {name: version for name, version, source in fields if source.endswith("Packages")}

    def _located(self, package: str) -> str:
        self._update()
        output = self._answer(["apt-get", *self._options(), "download", "--print-uris", package])
        match = re.search(r"^'\S+' (\S+)", output, re.MULTILINE)
        if match is None:
            raise HostNotReady(f"{package}: apt does not say where it is: {output.strip()}")
        return match[1]

    @property
    def _archives(self) -> Path:
        return self._state / "cache/archives"

    @property
    def _state(self) -> Path:
        return self.cache / "apt" / self.architecture.debian / self.name

    def _update(self) -> None:
        """Fetch the lists of packages where ours are not of today. Raises: HostNotReady."""
        stamp = self._state / "updated"
        if stamp.is_file() and time.time() - stamp.stat().st_mtime < FRESH_S:
            return
        check_programs(PROGRAMS, "an emulated machine" if self.kind == "deb" else "the source of a project")
        if not KEYRING.is_file():
            msg = f"{KEYRING}: the keys of Debian's archive are not here; on Debian and Ubuntu: "
            raise HostNotReady(msg + "apt install debian-archive-keyring")
        for folder in ("lists/partial", "cache/archives/partial"):
            (self._state / folder).mkdir(parents=True, exist_ok=True)
        (self._state / "status").touch()
        beside = "-security" if self.name.endswith("-security") else ""  # an archive beside that of all others
        line = f"{self.kind} [signed-by={KEYRING}] {mirror()}{beside} {self.name} main\n"
        (self._state / "sources.list").write_text(line, encoding="utf-8")
        shutil.rmtree(self._state / "answers", ignore_errors=True)
        self._run(["apt-get", *self._options(), "update"])
        stamp.touch()

    def _options(self) -> list[str]:
        state = self._state
        own = {
            "Dir::State": state,
            "Dir::State::status": state / "status",
            "Dir::Cache": state / "cache",
            "Dir::Etc::sourcelist": state / "sources.list",
            "APT::Architecture": self.architecture.debian,
        }
        return [word for name, value in (own | GUESTS["apt"]).items() for word in ("-o", f"{name}={value}")]

    def _answer(self, command: Sequence[str]) -> str:
        """What apt says of its lists, kept until they are fetched again: each time it would read them for seconds.

        Raises: HostNotReady.
        """
        kept = self._state / "answers" / hashlib.sha256("\0".join(command).encode()).hexdigest()[:16]
        if not kept.is_file():
            output = self._run(command)
            with made_whole(kept) as fresh:
                fresh.write_text(output, encoding="utf-8")
        return kept.read_text(encoding="utf-8")

    def _run(self, command: Sequence[str], folder: Path | None = None) -> str:
        try:
            return _run(command, folder)
        except ProbeEffectError as error:
            raise HostNotReady(f"packages of Debian {self.name} cannot be had: {error}") from error


@contextmanager
def locked(cache: Path) -> Iterator[None]:
    """Hold the folder: of two programs that put machines together, the second waits for the first."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def made_whole(target: Path) -> Iterator[Path]:
    """A place beside `target` to make it at, a file or a folder; when it is whole, it is moved there in one step."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as fresh:
        made = Path(fresh) / target.name
        yield made
        made.rename(target)


def mirror() -> str:
    """The mirror of Debian that the host's own apt uses; Debian's own where it uses none."""
    output = _run(["apt-get", "indextargets", "--format", "$(ORIGIN)/$(LABEL) $(REPO_URI)"])
    mirrors = [line.split()[1] for line in output.splitlines() if line.startswith("Debian/Debian ")]
    return mirrors[0].rstrip("/") if mirrors else MIRROR


def check_programs(programs: dict[str, str], user: str = "an emulated machine") -> None:
    """Check that `user` has each program; the values are the packages that bring them. Raises: HostNotReady."""
    missing = {program: package for program, package in programs.items() if shutil.which(program) is None}
    if missing:
        line = f"apt install {' '.join(dict.fromkeys(missing.values()))}"
        raise HostNotReady(f"{user} needs {', '.join(missing)}, not found here; on Debian and Ubuntu: {line}")


def _run(command: Sequence[str], folder: Path | None = None) -> str:
    """The output of a command. Raises: ProbeEffectError with its message when it fails."""
    run = run_program(command, 600, cwd=folder, stdin=subprocess.DEVNULL)
    if run.returncode != 0:
        words = (run.stderr.strip() or run.stdout.strip()).splitlines()
        raise ProbeEffectError(f"`{command[0]}` ended with status {run.returncode}: {'; '.join(words[-3:])}")
    return run.stdout


def _name_and_version(file: Path) -> tuple[str, str]:
    """The package and its version in a file name such as `libbpf1_1%3a1.1.2-0_amd64.deb`."""
    name, version, _ = file.name.split("_", 2)
    return name, version.replace("%3a", ":")


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
