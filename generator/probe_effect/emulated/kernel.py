"""Kernels to emulate: Debian's of a release, taken out of its package, or an image of the user's own."""

import hashlib
import re
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from probe_effect.emulated.architecture import DEFAULT, GuestArchitecture
from probe_effect.emulated.debian import RELEASE, DebianRelease, made_whole
from probe_effect.errors import HostNotReady, UsageError

META_PACKAGE = "linux-image-{architecture}"
"""Depends on the newest kernel of its release."""

WANTED = re.compile(r"\./(boot|usr/lib/modules/[^/]+)/(vmlinuz|config)(-.*)?")
"""The image and the build options: in /boot, and since Linux 6.19's packages beside the modules."""

IMAGE, CONFIG = "vmlinuz", "config"


@dataclass(frozen=True, slots=True)
class KernelImage:
    """A kernel image, its build options where they are known, and where it comes from."""

    image: Path
    config: Path | None
    origin: str
    """Package and version; for an image of the user's own its name and the beginning of its hash."""


def find_kernel(words: str, cache: Path, architecture: GuestArchitecture = DEFAULT) -> KernelImage:
    """The kernel that a user names: a release of Debian, or the path of an image.

    Raises: UsageError for neither; HostNotReady where packages cannot be had.
    """
    path = Path(words)
    if path.is_file():
        return _own(path)
    if RELEASE.fullmatch(words):
        return _of_release(DebianRelease(words, cache, architecture))
    msg = f"{words}: expected a release of Debian (bookworm, trixie-backports, sid) or the file of a kernel image"
    raise UsageError(msg)


def _own(path: Path) -> KernelImage:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    config = path.with_name(path.name.replace(IMAGE, CONFIG))
    return KernelImage(path, config if config != path and config.is_file() else None, f"{path.name} {digest}")


def newest(release: DebianRelease) -> tuple[str, list[str]]:
    """(the newest kernel of a release by its package's name, the packages that have its files).

    Raises: HostNotReady where the release has none for the architecture, or cannot be asked.
    """
    meta = META_PACKAGE.format(architecture=release.architecture.debian)
    images = release.needs(meta, r"linux-image-\d.*")
    if not images:
        msg = f"Debian {release.name} has no kernel for {release.architecture.debian}: its {meta} depends on none"
        raise HostNotReady(msg)
    # Newer packages of an image are empty, and depend on those that have it.
    return images[0], release.needs(images[0], r"linux-(binary|base)-\d.*") or images


def _of_release(release: DebianRelease) -> KernelImage:
    image_package, packages = newest(release)
    files = [release.fetch_alone(package) for package in packages]
    folder = release.cache / "kernels" / files[0].stem
    if not folder.is_dir():
        with made_whole(folder) as fresh:
            fresh.mkdir()
            for file in files:
                _extract(file, fresh)
    image, config = (next(folder.glob(f"{kind}*"), None) for kind in (IMAGE, CONFIG))
    if image is None:
        msg = f"{', '.join(packages)} of Debian {release.name}: no file vmlinuz in it"
        raise HostNotReady(msg)
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
