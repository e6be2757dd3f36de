"""Results kept from run to run, each known by the hash of all that it was made from: safe to delete at any time.

An entry carries a digest of its place and its bytes, so one that was cut short, altered or moved is made again. It is
written beside its place and renamed into it: two builds at once do not take each other's, and one that is killed leaves
no half of one. Where nothing can be written, nothing is kept, and everything is made.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent

DIGEST_BYTES = hashlib.sha256().digest_size

CODE = frozenset({".py", ".j2", ".toml", ".conf"})
"""The endings of what our results depend on: modules, templates of pages, the records of tools, where fonts are."""

PACKAGED = PACKAGE / "kept"
"""Entries that came with the program, made of its data when its wheel was built; a checkout has none."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Entries in `folder`, beside those that came with the program; without a folder nothing is kept."""

    folder: Path | None = None

    def get(self, *made_from: str) -> bytes | None:
        """The bytes kept for just these words; None where there are none, or where they were altered."""
        for folder in filter(None, (PACKAGED, self.folder)):
            with suppress(OSError):
                entry = _path(folder, made_from).read_bytes()
                digest, body = entry[:DIGEST_BYTES], entry[DIGEST_BYTES:]
                if _digest(made_from, body) == digest:
                    return body
        return None

    def put(self, body: bytes, *made_from: str) -> None:
        """Keep `body`; where that cannot be, a later run makes it again."""
        if self.folder is None:
            return
        path = _path(self.folder, made_from)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix="new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_digest(made_from, body) + body)
                Path(name).replace(path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise

    def made(self, make: Callable[[], bytes], *made_from: str) -> bytes:
        """What `make` returns, kept from an earlier run where all that it is `made_from`, our code too, is the same."""
        body = self.get(*made_from)
        if body is None:
            body = make()
            self.put(body, *made_from)
        return body


def _digest(made_from: Sequence[str], body: bytes) -> bytes:
    return hashlib.sha256(_name(made_from).encode() + body).digest()


def _name(made_from: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(made_from).encode()).hexdigest()


def _path(folder: Path, made_from: Sequence[str]) -> Path:
    name = _name(made_from)
    return folder / name[:2] / name[2:]


NOWHERE = Kept()

library_version = cache(version)
"""The version of a library that results depend on; asked of its files once, because entries ask for it each."""


@cache
def code_version(*parts: str) -> str:
    """A digest of our own code: of the modules and packages named, with their templates, relative to this package."""
    digest = hashlib.sha256()
    for part in parts:
        path = PACKAGE / part
        paths = sorted([*path.rglob("*"), *path.parent.glob(f"{path.name}.*")])  # a folder may be left of a module
        for file in (candidate for candidate in paths if candidate.suffix in CODE):
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
