"""The source of a project as Debian has it: fetched by apt once, and unpacked without Debian's own changes."""

import hashlib
import tarfile
from collections.abc import Callable
from pathlib import Path

from probe_effect.emulated.debian import DebianRelease, locked, made_whole
from probe_effect.errors import HostNotReady
from probe_effect.measure.tree import INSTEAD, Tree
from probe_effect.store.suite_file import Project

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
