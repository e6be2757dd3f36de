"""What is done about problems that were found: old ones do not hold up a change of the data, and some are fixed."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from probe_effect.checks.changes import DIFFERENCE_RULES
from probe_effect.checks.rule import broken, names_in
from probe_effect.checks.run import check_all, parts_below
from probe_effect.model import Problem
from probe_effect.store.dictionary import TABLES
from probe_effect.store.places import DataFolder
from probe_effect.store.release_file import TreeDifference
from probe_effect.store.tables import MAX_FILE_BYTES, regular_size


def new_problems(files: TreeDifference) -> tuple[tuple[Problem, ...], list[Problem]]:
    """The problems of the new state that the old one has not, and those of the step from one to the other."""
    old = {_same(problem) for problem in check_all(files.base)}
    new = [problem for problem in check_all(files.head) if _same(problem) not in old]
    return _of_what_changed(new, files), broken(DIFFERENCE_RULES, files, names_in(files.head.root, files.head))


def _of_what_changed(problems: Sequence[Problem], files: TreeDifference) -> tuple[Problem, ...]:
    """Those of folders that changed first; where two do not go together, what was published before is not blamed."""
    changed = {PurePosixPath(path).parent for path in files.all}
    own = [one for one in problems if PurePosixPath(_inside(one)).parent in changed]
    told = {one.rule for one in own}
    return (*own, *(one for one in problems if one.rule not in told))


def _inside(problem: Problem) -> str:
    """The file's path below the data folder, wherever that lies."""
    return problem.file.partition("/")[2]


def _same(problem: Problem) -> tuple[str, str, str]:
    """What makes a problem the same in both: not its line, and not where the data folder lies."""
    return _inside(problem), problem.rule, problem.message


TEXT_FILES = frozenset({*TABLES, "machine.json", "source.toml", "suite.toml"})
EXECUTABLE = 0o111


@dataclass(frozen=True, slots=True)
class Fixed:
    """One thing that was done to a file."""

    file: str
    what: str


def autofix(folders: Iterable[Path], data: DataFolder) -> list[Fixed]:
    """Fix the files of everything at or below `folders`; what was done. A second time there is nothing to do."""
    paths = (path for folder, _ in parts_below(folders) for path in sorted(folder.iterdir()) if path.name in TEXT_FILES)
    return [Fixed(data.relative(path), what) for path in paths for what in _fix_file(path)]


def _fix_file(path: Path) -> Iterator[str]:
    """Links, devices and files that are too large are left alone: `check` tells of them."""
    try:
        if regular_size(path) > MAX_FILE_BYTES:
            return
        mode = path.stat().st_mode
        if mode & EXECUTABLE:
            path.chmod(mode & ~EXECUTABLE)
            yield "is no longer executable"
        found = before = path.read_bytes()
        for what, form in FORMS:
            if (after := form(found, path.suffix)) != found:
                found = after
                yield what
        if found != before:
            path.write_bytes(found)
    except OSError:
        return


def _without_trailing_blanks(text: bytes, suffix: str) -> bytes:
    """In JSON only, where no string goes over a line's end; elsewhere a blank may be a value's."""
    return re.sub(rb"[ \t]+(?=\n|\Z)", b"", text) if suffix == ".json" else text


def _with_last_line_feed(text: bytes, suffix: str) -> bytes:
    """A table's last line may be torn, and only a person can see that."""
    return text if suffix == ".csv" or not text or text.endswith(b"\n") else text + b"\n"


FORMS: tuple[tuple[str, Callable[[bytes, str], bytes]], ...] = (
    ("has no byte order mark any more", lambda text, _: text.removeprefix(b"\xef\xbb\xbf")),
    ("ends its lines with LF", lambda text, _: text.replace(b"\r\n", b"\n")),
    ("has no blanks at the ends of lines", _without_trailing_blanks),
    ("ends with a line feed", _with_last_line_feed),
)
"""What was done, and how; in an order in which each leaves nothing for one before it."""
