"""The archives that an emulated machine's file system is made of: Debian's userland, other releases' tracers, ours."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import elftools

import probe_effect
from probe_effect.compilers import Sysroot
from probe_effect.emulated.debian import Unpacked
from probe_effect.emulated.kernel import KernelImage, archive, compile_python, wrapper
from probe_effect.emulated.messages import CONFIG, LIBRARY, PLACE, PREBUILT, WORKLOADS, in_guest
from probe_effect.emulated.tracers import Wanted
from probe_effect.tools.record import TOOLS
from probe_effect.tracers.libbpf import prebuild

METADATA = "probe_effect.dist-info/METADATA"
"""Files by which a package knows its version."""

FORM = "1"
"""The version of the archives' form: raise it when the same packages should give other archives."""

INIT = Path(__file__).resolve().with_name("init.sh")


def userland(unpacked: Unpacked, python: Sysroot, cache: Path) -> Path:
    """The userland, its Python compiled beforehand by that of a system which runs here."""
    target = _kept(cache, unpacked.digest)
    if not target.is_file():
        compile_python(python, unpacked.folder / "usr/lib")
    return archive(unpacked.folder, target)


def from_elsewhere(one: Wanted, unpacked: Unpacked, cache: Path) -> Path:
    """A tracer of another release in a place of its own, with what runs it there."""
    target = _kept(cache, f"{one.tracer}-{unpacked.digest}")
    if target.is_file():
        return target
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as fresh:
        root = Path(fresh) / "root"
        shutil.copytree(unpacked.folder, _inside(root, one.place), symlinks=True, copy_function=os.link)
        _write(_inside(root, one.path), wrapper(unpacked.system, Path(one.place), one.program), is_program=True)
        for name in _data_folders(unpacked.system, one.program):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).symlink_to(f"{one.place}/{name}")
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
        for path, place in copies.items():
            _copy(path, _inside(root, place))
        if compiled := [path for path in scripts if path.name.endswith(TOOLS["libbpf"].ending)]:
            prebuild(compiled, _inside(root, PREBUILT), cache, sdk)
        return archive(root, _kept(cache, f"own-{_digest(root)}"))


def _program_inside(library: Path, python: Sysroot) -> None:
    """Our package, and the one that it needs inside, compiled."""
    for package in (probe_effect, elftools):
        source = Path(str(package.__file__)).parent
        for path in (*source.rglob("*.py"), *source.rglob("*.toml")):
            _copy(path, library / source.name / path.relative_to(source))
    _write(library / METADATA, f"Name: probe-effect\nVersion: {probe_effect.__version__}\n")
    compile_python(python, library)


def _data_folders(system: Sysroot, program: str) -> list[str]:
    """Where a program keeps what it reads itself, as DTrace does its D libraries: it looks there and nowhere else."""
    places = (f"usr/lib/{system.triplet}/{program}", f"usr/share/{program}")
    return [place for place in places if (system.root / place).is_dir()]


def _digest(folder: Path) -> str:
    """16 digits of a hash over the names and contents of all files of a folder."""
    hashed = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        hashed.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return hashed.hexdigest()[:16]


def _kept(cache: Path, name: str) -> Path:
    return cache / "archives" / FORM / f"{name}.cpio"


def _inside(root: Path, place: str) -> Path:
    """The path below `root` of the guest's absolute path `place`."""
    return root / place.removeprefix("/")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)


def _write(path: Path, text: str, *, is_program: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755 if is_program else 0o644)
