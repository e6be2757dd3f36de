"""Where things are: the folders under `data/`, the ids that their names are, and the files that each may hold."""

import hashlib
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from probe_effect.model import UsageError
from probe_effect.records import TOOLS
from probe_effect.store.kept import NOWHERE, PACKAGE, Kept
from probe_effect.store.tables import printable

PACKAGED = next(
    (data for data in (PACKAGE / "data", PACKAGE.parents[1] / "data") if (data / "suites").is_dir()), PACKAGE / "data"
)
"""The data that came with the program: inside a wheel; in its checkout, where it runs from there."""

OWN_FOLDER = "probe-effect-submission"
"""Where results lie outside a checkout, in the working folder: laid out as the repository, so that it can be sent."""

MAX_PATH_LENGTH = 500
MAX_PATHS = 1_000_000  # of one folder that is checked; about 300 000 submissions
MAX_PATH_BYTES = 4000  # Linux opens no path of 4096


@dataclass(frozen=True, slots=True)
class NamedFile:
    """An attribute of a folder: where its file of this name lies."""

    name: str

    def __get__(self, owner: "SubmissionFolder", _: object) -> Path:
        return owner.folder / self.name


@dataclass(frozen=True, slots=True)
class SubmissionFolder:
    """One folder `data/results/<machine>/<YYYY-MM-DD>-<suite>[-n]/`."""

    folder: Path

    samples = NamedFile("samples.csv")
    histogram = NamedFile("histogram.csv")
    """How long single operations took; there only where the workload times each."""
    calibration = NamedFile("calibration.csv")
    """What its scripts cost in a loop; there only where a suite ran scripts over programs."""
    paths = NamedFile("paths.csv")
    """What its events execute, by function; there only where an emulated machine recorded it."""
    machine_file = NamedFile("machine.json")
    plan_file = NamedFile("plan.json")
    """What is still to be run; there only while the run is not complete."""

    @property
    def machine(self) -> str:
        return self.folder.parent.name

    @property
    def id(self) -> str:
        """`<machine>/<date>-<suite>`."""
        return f"{self.machine}/{self.folder.name}"

    @property
    def content(self) -> tuple[Path, ...]:
        """The files of a complete one: its rows, its machine, and the further tables that it has."""
        further = (self.histogram, self.calibration, self.paths)
        return (self.samples, self.machine_file, *(path for path in further if path.exists()))


@dataclass(frozen=True, slots=True)
class DataFolder:
    """A `data/` folder and what it holds, in a stable order; what is made from it is kept in `kept`."""

    root: Path
    kept: Kept = NOWHERE

    def parts(self) -> list[Path]:
        """The folders in which suites, sources and submissions lie, those that hold anything."""
        folders = (self.root / name for name in ("suites", "published", "results"))
        return [folder for folder in folders if folder.is_dir() and any(folder.iterdir())]

    @property
    def results(self) -> Path:
        return self.root / "results"

    def submissions(self) -> list[SubmissionFolder]:
        return submissions_in(self.results)

    def sources(self) -> list[Path]:
        return _folders_in(self.root / "published")

    def suites(self) -> list[Path]:
        """The folder of every suite; those of the package where `data/` has none of its own."""
        own = self.root / "suites"
        parent = own if own.is_dir() else PACKAGED / "suites"
        return [folder for folder in _folders_in(parent) if (folder / "suite.toml").is_file()]

    def relative(self, path: Path) -> str:
        """How messages name a file: from the data folder's parent when inside it, as given otherwise."""
        try:
            shown = (path.parent.resolve() / path.name).relative_to(self.root.resolve().parent)
        except ValueError:
            shown = path
        return printable(str(shown), MAX_PATH_LENGTH)


def submissions_in(results: Path) -> list[SubmissionFolder]:
    return [SubmissionFolder(folder) for machine in _folders_in(results) for folder in _folders_in(machine)]


def _folders_in(parent: Path) -> list[Path]:
    """The folders with a name that can be read, sorted; `check` tells of all others."""
    return [path for path in sorted(parent.glob("*")) if path.name.isprintable() and path.is_dir()]


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def walk(folder: Path) -> list[Path]:
    """Everything below `folder`, sorted, but what cannot be opened or is behind links. However deep it is, it ends."""
    paths: list[Path] = []
    waiting = [str(folder)]
    while waiting and len(paths) < MAX_PATHS:
        with suppress(OSError), os.scandir(waiting.pop()) as listed:
            entries = [entry for entry in listed if len(os.fsencode(entry.path)) < MAX_PATH_BYTES]
            paths += [Path(entry.path) for entry in entries]
            waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    return sorted(paths)


def find_project(start: Path) -> Path | None:
    """The nearest folder at or above `start` that is a Probe Effect checkout, or None."""
    for folder in (start, *start.parents):
        if (folder / "data" / "suites").is_dir() and (folder / "site" / "hugo.toml").is_file():
            return folder
    return None


def project_or_error(start: Path) -> Path:
    """The checkout around `start`. Raises: UsageError when there is none."""
    project = find_project(start.resolve())
    if project is None:
        raise UsageError(
            f"{start}: not inside a Probe Effect checkout, and nothing was measured here. "
            "Run this in a clone of the repository, or where `probe-effect measure` was run."
        )
    return project


OWN_HEADER = re.compile(r'^#include "((?:\.\./){0,2}[\w-]+\.h)"$', re.MULTILINE)
"""How a workload names a header of ours, which lies no higher than beside the suites' folders."""


def own_headers(source: Path) -> tuple[Path, ...]:
    """The headers of ours that a workload includes by a path from its own folder; those that are missing are left out.

    What such a header includes in turn is not looked at: ours include the system's only.
    """
    named = OWN_HEADER.findall(source.read_text(encoding="utf-8", errors="replace"))
    return tuple(path for name in named if (path := source.parent / name).is_file())


LINUX = ".linux"
"""What comes before the last ending of a form for Linux: `02-kprobe.linux.d` is the form of `02-kprobe.d`."""


def linux_form(script: Path) -> Path | None:
    """The form of a script or counting twin for Linux; None where the script itself serves there."""
    path = script.with_suffix(f"{LINUX}{script.suffix}")
    return path if path.is_file() else None


def plain_form(script: Path) -> Path | None:
    """Beside which script a form for Linux must lie, whether that is there or not; None for what is no such form."""
    if not script.stem.endswith(LINUX):
        return None
    return script.with_name(f"{script.stem.removesuffix(LINUX)}{script.suffix}")


SUBMISSION_FILES = frozenset({"machine.json", "samples.csv", "histogram.csv", "calibration.csv", "paths.csv"})
UNFINISHED = "plan.json"
SOURCE_FILES = frozenset({"source.toml", "figures.csv"})

FOLDER = r"[!-\-0-~][ -.0-~]{0,199}"
"""Plain signs, and hidden nowhere; whether it is an id is for the rules of what is in it."""

NAME = r"[A-Za-z0-9][A-Za-z0-9._+~-]{0,99}"
ENDINGS = "|".join(re.escape(ending) for ending in (*(tool.ending for tool in TOOLS.values()), ".bpf.h", ".sh"))

KNOWN = tuple(
    tuple(map(re.compile, names))
    for names in (
        (r"LICENSE|README\.md|(changes|claims|explanations|references)\.toml",),
        ("mechanisms", rf"{NAME}\.json"),
        ("published", FOLDER, "|".join(map(re.escape, SOURCE_FILES))),
        ("releases", NAME, r"SHA256SUMS|manifest\.json|(costs|counts)\.csv|probe-effect-[0-9.]{1,20}\.zip"),
        ("results", FOLDER, FOLDER, "|".join(map(re.escape, (*SUBMISSION_FILES, UNFINISHED)))),
        ("schema", rf"{NAME}\.schema\.json"),
        ("suites", rf"{NAME}\.h"),
        ("suites", FOLDER, rf"suite\.toml|{NAME}({ENDINGS})"),
        ("suites", FOLDER, "workload", rf"{NAME}\.c"),
        ("suites", FOLDER, NAME, "Makefile"),
        ("tools", rf"{NAME}\.toml"),
        ("transcripts", rf"{NAME}\.toml"),
        ("transcripts", "recorded", rf"{NAME}\.json"),
    )
)
"""The path of each file relative to the data folder, as a pattern of each name in it."""


def is_known_file(names: Sequence[str]) -> bool:
    """Whether the data format knows a file of this path, by the names in it."""
    return any(len(patterns) == len(names) and _fits(patterns, names) for patterns in KNOWN)


def is_known_folder(names: Sequence[str]) -> bool:
    return any(len(patterns) > len(names) and _fits(patterns, names) for patterns in KNOWN)


def _fits(patterns: Sequence[re.Pattern[str]], names: Sequence[str]) -> bool:
    return all(pattern.fullmatch(name) for pattern, name in zip(patterns, names, strict=False))


GIT = ".git"
STEERS = "steers git, which then gives others another file", "remove it"
BELONGS = "remove it; data/README.md says what belongs where"
"""How the names of git's own files begin, and what is said of those and of others that are not known."""
