"""Results of a run under sudo belong to whoever called it: they are to read, credit and send them without root."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def hand_over(folder: Path, environment: Mapping[str, str] | None = None) -> None:
    """Give a submission's folder to the user who called `sudo`; without sudo nothing is done.

    With it go the folders around it that were made on its way, up to the nearest that is theirs.
    """
    variables = os.environ if environment is None else environment
    if os.geteuid() != 0 or not (
        variables.get("SUDO_UID", "").isdecimal() and variables.get("SUDO_GID", "").isdecimal()
    ):
        return
    user, group = int(variables["SUDO_UID"]), int(variables["SUDO_GID"])
    for path in (*_on_the_way(folder.resolve(), user), folder, *folder.iterdir()):
        os.chown(path, user, group, follow_symlinks=False)


def _on_the_way(folder: Path, user: int) -> list[Path]:
    """Folders of root's between `folder` and the nearest above it that is the user's; none where no folder is."""
    between: list[Path] = []
    for parent in folder.parents:
        owner = parent.stat().st_uid
        if owner == user:
            return between
        if owner != 0:
            break
        between.append(parent)
    return []
