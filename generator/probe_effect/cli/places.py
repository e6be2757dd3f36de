"""Which `data/` a command works on: the one given, else the checkout's."""

from __future__ import annotations

from pathlib import Path

import click

from probe_effect.errors import UsageError
from probe_effect.store.places import DataFolder, project_or_error

data_option = click.option(
    "--data",
    "data_path",
    type=click.Path(path_type=Path),
    help="The data folder. [default: data/ of the checkout around the working folder]",
)


def data_folder(given: Path | None) -> DataFolder:
    """The data folder. Raises: UsageError when there is none."""
    root = given or project_or_error(Path.cwd()) / "data"
    if not root.is_dir():
        msg = f"{root}: is not a folder. Give a data folder with --data."
        raise UsageError(msg)
    return DataFolder(root)


def given_folders(paths: tuple[Path, ...]) -> list[Path]:
    """The folders named on the command line. Raises: UsageError for one that is not there."""
    for path in paths:
        if not path.is_dir():
            msg = f"{path}: is not a folder. Expected a folder of data, such as data/results/<machine>/<date>-<suite>."
            raise UsageError(msg)
    return list(paths)
