"""The files that a data folder may hold, by the names of their folders and their own; all others belong elsewhere."""

import re
from collections.abc import Sequence

from probe_effect.tools.record import TOOLS

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
    return any(len(known) == len(names) and _fits(known, names) for known in KNOWN)


def is_known_folder(names: Sequence[str]) -> bool:
    """Whether the data format knows a folder of this path, by the names in it."""
    return any(len(known) > len(names) and _fits(known, names) for known in KNOWN)


def _fits(known: Sequence[re.Pattern[str]], names: Sequence[str]) -> bool:
    return all(pattern.fullmatch(name) for pattern, name in zip(known, names, strict=False))


GIT = ".git"
STEERS = "steers git, which then gives others another file", "remove it"
BELONGS = "remove it; data/README.md says what belongs where"
"""How the names of git's own files begin, and what is said of those and of others that are not known."""
