"""Stands in for GitHub's artefacts: each a folder of the run's own in the hub.

upload NAME PATHS IF_NONE OVERWRITE    as actions/upload-artifact: below the folder that all paths have in common
download NAME FOLDER                   as actions/download-artifact
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

RUN = Path(os.environ["HUB"]) / "runs" / os.environ["GITHUB_RUN_ID"]


def visible_files(path: Path) -> list[Path]:
    """The file, or all in the folder that are not hidden."""
    if path.is_file():
        return [path]
    found = (one for one in path.rglob("*") if one.is_file())
    return [one for one in found if not any(part.startswith(".") for part in one.relative_to(path).parts)]


def upload(name: str, paths: str, if_none: str, overwrite: str) -> None:
    """Keep the files, or say that there are none."""
    asked = [Path(line.strip()).absolute() for line in paths.splitlines() if line.strip()]
    files = [file for path in asked for file in visible_files(path)]
    if not files:
        if if_none == "error":
            sys.exit(f"No files were found with the provided path: {paths}")
        return
    if (RUN / name).exists():
        if overwrite != "true":
            sys.exit(f"an artifact with this name already exists on the workflow run: {name}")
        shutil.rmtree(RUN / name)
    parents = [path if path.is_dir() else path.parent for path in asked if path.exists()]
    top = Path(os.path.commonpath([parents[0]] if len(asked) == 1 else [path.parent for path in asked]))
    for file in files:
        kept = RUN / name / file.relative_to(top)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, kept)


def download(name: str, folder: str) -> None:
    """Put the files where they are wanted."""
    if not (RUN / name).is_dir():
        sys.exit(f"Artifact not found for name: {name}")
    shutil.copytree(RUN / name, folder, dirs_exist_ok=True)


if __name__ == "__main__":
    command, *given = sys.argv[1:]
    if command == "upload":
        upload(*given)
    else:
        download(*given)
