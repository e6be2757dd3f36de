"""Tracers inside an emulated machine, by the packages that bring them, and a project's source as Debian has it."""

import hashlib
import re
import shutil
import tarfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from probe_effect.emulated.debian import PACKAGE, RELEASE, DebianRelease, locked, made_whole
from probe_effect.errors import HostNotReady, UsageError
from probe_effect.measure.tree import INSTEAD, Tree
from probe_effect.model import Need
from probe_effect.store.suite_file import Project, tools_of
from probe_effect.tools import TOOLS
from probe_effect.tracers.libbpf import CLANG
from probe_effect.tracers.protocol import Tracer, TracerState

FROM_ELSEWHERE = re.compile(rf"(?P<tracer>[a-z-]+)=(?P<package>{PACKAGE.pattern})/(?P<release>{RELEASE.pattern})")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A tracer to bring: of the guest's own release, or another release's package."""

    tracer: str
    package: str | None = None
    release: str | None = None

    @property
    def place(self) -> str:
        """The folder with another release's files in the guest."""
        return f"/opt/{self.package}-{self.release}"

    @property
    def packages(self) -> tuple[str, ...]:
        """What brings it in the guest's own release."""
        return TOOLS[self.tracer].guest_packages or ()

    @property
    def program(self) -> str:
        """The name of the tracer's program."""
        return TOOLS[self.tracer].program if self.tracer in TOOLS else self.tracer

    @property
    def path(self) -> str:
        """What runs its program there."""
        return f"{self.place}/run-{self.program}"

    @property
    def word(self) -> str:
        """How the program inside is told of it: as `--tracer` is on a real machine."""
        return self.tracer if self.package is None else f"{self.tracer}={self.path}"


def wanted(words: Sequence[str]) -> list[Wanted]:
    """The tracers that a user names, each once: `libbpf`, or `bpftrace=bpftrace/trixie`.

    Raises: UsageError for another form, and for a tracer that the guest's release does not have.
    """
    names, found = _offered(), []
    for word in dict.fromkeys(words):
        match = FROM_ELSEWHERE.fullmatch(word)
        if match:
            found.append(Wanted(match["tracer"], match["package"], match["release"]))
        elif word in names:
            found.append(Wanted(word))
        else:
            msg = (
                f"{word}: in an emulated machine a tracer is named NAME, or NAME=PACKAGE/RELEASE such as "
                f"bpftrace=bpftrace/trixie; names: {', '.join(names)}"
            )
            raise UsageError(msg)
    return found


def _offered() -> list[str]:
    """The tracers that the guest's own release brings, in their order."""
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
    return [one for one in able if one == able[0] or one.tracer == "dormant"] if quick else able


@dataclass(frozen=True, slots=True)
class GuestTracer(Tracer):
    """A tracer as it described itself inside; it runs only there, and the program inside makes its sessions."""

    said: TracerState

    def available(self) -> str | None:
        """None when it can run there, else why not."""
        return self.said.unavailable

    def version(self) -> str | None:
        """The version of the tracer, as the tracer prints it."""
        return self.said.version

    def missing(self, need: Need) -> str | None:
        """None when kernel and tool offer what a case needs, else why not."""
        return self.said.lacks.get(need)


FOLDER = "projects"
DIGITS = 16


def fetched(project: Project, cache: Path, tell: Callable[[str], None]) -> Tree:
    """The source tree of a project.

    What is in `cache` is not fetched again; `tell` is told when something is. Raises: HostNotReady where it cannot be
        had, with what to do instead.
    """
    own, name = cache / FOLDER, f"{project.package}-{project.version}"
    folder = own / project.sha256[:DIGITS] / name
    with locked(own):
        if not folder.is_dir():
            tell(f"fetching the source of {name} from Debian {project.release}, once; it is kept in {folder}")
            _unpack(_archive(project, own), folder)
    return Tree(folder, f"{name}, sha256 {project.sha256[:DIGITS]}", project.configure)


def _archive(project: Project, own: Path) -> Path:
    """The archive, as apt has checked it. Raises: HostNotReady."""
    try:
        archive = DebianRelease(project.release, own, kind="deb-src").fetch_source(project.package)
    except HostNotReady as error:
        msg = f"{error}\n{INSTEAD}"
        raise HostNotReady(msg) from error
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != project.sha256:
        msg = (
            f"{archive.name} of Debian {project.release} has the SHA-256 {found}, and the suite builds "
            f"{project.version} with {project.sha256}\n{INSTEAD}"
        )
        raise HostNotReady(msg)
    return archive


def _unpack(archive: Path, folder: Path) -> None:
    """The one folder of an archive, whole or not at all. Raises: HostNotReady."""
    try:
        with made_whole(folder) as made, tarfile.open(archive) as files:
            # Pythons before 3.11.4 have no filters; the archive's hash is the suite's.
            files.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
            files.extractall(made.with_name("archive"))  # noqa: S202
            (top,) = made.with_name("archive").iterdir()
            top.rename(made)
    except (OSError, ValueError, tarfile.TarError) as error:
        msg = f"{archive}: cannot be unpacked: {error}"
        raise HostNotReady(msg) from error
