"""What a finished site was made of, so that nothing is built where nothing has changed since."""

import hashlib
import sys
from importlib.metadata import distributions
from pathlib import Path

from probe_effect.exports.hugo import SiteOptions, mounts
from probe_effect.store.kept import code_version
from probe_effect.store.version import folders_digest

RECORD = "made-of.txt"
"""In the work folder: the digest of what the site beside it was made of."""


def digest(project: Path, work: Path, data: Path, options: SiteOptions) -> str:
    """A digest of everything that decides what a site is: data, hand-written parts, settings, code and libraries."""
    written = [source for source in _sources(project, work) if source.exists()]
    files = [path.read_bytes() for path in written if path.is_file()]
    libraries = sorted(f"{one.name} {one.version}" for one in distributions())
    parts = (
        folders_digest([data, *(path for path in written if path.is_dir())]),
        *(hashlib.sha256(content).hexdigest() for content in files),
        code_version("."),
        repr(options),
        sys.version,
        *libraries,
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _sources(project: Path, work: Path) -> list[Path]:
    """What people write for Hugo: the settings and layouts, and all that is mounted but the work folder."""
    paths = (Path(str(one["source"])) for one in mounts(project, work))
    return [project / "site", *(path for path in paths if not path.is_relative_to(work.resolve()))]
