"""What differs between two states of a data folder, file by file."""

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from probe_effect.store.places import DataFolder


@dataclass(frozen=True, slots=True)
class TreeDifference:
    """Files that one state has and the other has not, or has otherwise: paths relative to `data/`, in order."""

    base: DataFolder
    head: DataFolder
    added: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """Every path that differs."""
        return tuple(sorted({*self.added, *self.changed, *self.gone}))

    def things(self, part: str, depth: int) -> list[str]:
        """What differs below `part`, by the first `depth` names: `results`, 2 gives `<machine>/<folder>`."""
        below = (PurePosixPath(path).parts for path in self.all)
        return sorted(
            {"/".join(names[1 : depth + 1]) for names in below if names[0] == part and len(names) > depth + 1}
        )


def difference(base: DataFolder, head: DataFolder) -> TreeDifference:
    """What `head` has otherwise than `base`."""
    old, new = _tree(base), _tree(head)
    return TreeDifference(
        base,
        head,
        added=tuple(sorted(new.keys() - old.keys())),
        changed=tuple(sorted(path for path in old.keys() & new.keys() if old[path] != new[path])),
        gone=tuple(sorted(old.keys() - new.keys())),
    )


def _tree(data: DataFolder) -> dict[str, str]:
    """Every file below `data`, hidden ones too, to what tells its content from another; links are never followed."""
    found = {}
    for folder, folders, files in os.walk(data.root):
        links = [name for name in folders if (Path(folder) / name).is_symlink()]
        for name in (*links, *files):
            path = Path(folder) / name
            found[path.relative_to(data.root).as_posix()] = _content(path)
    return found


def _content(path: Path) -> str:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return f"link to {path.readlink()}"
    if not stat.S_ISREG(mode):
        return "not a regular file"
    with path.open("rb") as file:
        return f"{mode & 0o111:o} {hashlib.file_digest(file, 'sha256').hexdigest()}"
