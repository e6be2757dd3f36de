"""What several commands take: the `data/` to work on, where what is made of it is kept, folders, and a credit."""

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probe_effect.host.ownership import demand, stranger
from probe_effect.model import HostNotReady, UsageError
from probe_effect.store.kept import Kept
from probe_effect.store.places import OWN_FOLDER, PACKAGED, DataFolder, find_project, project_or_error

if TYPE_CHECKING:
    from probe_effect.store.machine_file import Submitter

PATH = click.Path(path_type=Path)

AUTHORS = ("project", "third-party", "hosted")
"""Those of `store.machine_file`, which takes longer to import."""

data_option = click.option(
    "--data",
    "data_path",
    type=PATH,
    help=f"The data folder. [default: data/ of the checkout around the working folder, else {OWN_FOLDER}/data, else, "
    "for what only asks, the data that came with the program]",
)


def data_folder(given: Path | None, *, may_be_new: bool = False, only_asks: bool = False) -> DataFolder:
    """The data folder, as the user gives it or the one around. Raises: UsageError when there is none, or it is foreign.

    Outside a checkout one that `may_be_new` is made, and for what `only_asks` the data that came with the program do.
    """
    root = given or _around(Path.cwd().resolve(), may_be_new=may_be_new, only_asks=only_asks)
    if not root.is_dir() and (given or not may_be_new):
        raise UsageError(f"{root}: is not a folder. Give a data folder with --data.")
    if given is None and root.is_dir():
        demand([root], f"--data {root} says that you mean it")
    return DataFolder(root, kept())


def results_folder(out: Path | None, data_path: Path | None, data: DataFolder) -> Path:
    """Where results are written: `out`, or `results/` of the data. Raises: UsageError for a foreign one not named."""
    if out is None and data_path is None:
        demand([data.results], "--out FOLDER names another one")
    return out or data.results


def own_project() -> Path:
    """The checkout around the working folder. Raises: UsageError when there is none, or it is foreign."""
    project = project_or_error(Path.cwd())
    demand([project, project / "site", project / "data"], "the program that is installed in that checkout takes it")
    return project


def data_words(data: DataFolder) -> list[str]:
    """The words of a command that name this data folder; none where it is the one that a command takes by itself."""
    working = Path.cwd().resolve()
    is_default = data.root.resolve() == _around(working, may_be_new=True, only_asks=False).resolve()
    return [] if is_default and not stranger(data.root) else ["--data", str(data.root.resolve())]


def _around(working: Path, *, may_be_new: bool, only_asks: bool) -> Path:
    """`data/` of the checkout; outside of one our own, which has the package's suites, or all of the package's."""
    own = working / OWN_FOLDER / "data"
    if project := find_project(working):
        return project / "data"
    if may_be_new or own.is_dir():
        return own
    return PACKAGED if only_asks and PACKAGED.is_dir() else project_or_error(working) / "data"


def kept() -> Kept:
    """What commands keep between runs: in `build/` of the checkout around the working folder, else in the user's cache.

    Nothing is kept without a home, or where others may write; nor under sudo, where the files would be root's in a
    folder of the user's.
    """
    from probe_effect.host.compilers import cache_folder

    if os.geteuid() == 0 and "SUDO_UID" in os.environ:
        return Kept()
    project = find_project(Path.cwd().resolve())
    try:
        folder = cache_folder() if project is None else project / "build" / "kept"
    except HostNotReady:
        return Kept()
    return Kept() if stranger(folder) else Kept(folder)


def given_folders(paths: tuple[Path, ...]) -> list[Path]:
    for path in paths:
        if not path.is_dir():
            expected = "a folder of data, such as data/results/<machine>/<date>-<suite>"
            raise UsageError(f"{path}: is not a folder. Expected {expected}.")
    return list(paths)


def credited(name: str | None, url: str | None) -> "Submitter":
    from probe_effect.store.machine_file import Submitter

    try:
        return Submitter(name=name, url=url)
    except ValueError as error:
        msg = "--name or --url: expected a name on one line, and an address such as https://example.org/me"
        raise click.UsageError(msg) from error


def script_text(path: Path) -> str:
    try:
        text = path.read_bytes()
        if b"\0" in text:
            raise OSError(errno.EINVAL, "it is no text")  # noqa: TRY301 (told as what cannot be read is)
        # Without an editor's byte order mark; other bytes are in remarks and strings, which say nothing of the cost.
        return text.decode("utf-8-sig", errors="replace")
    except OSError as error:
        why = f"cannot be read as a script: {error.strerror}"
        raise UsageError(f"{path}: {why}; a command comes behind --, a script itself behind -e") from error
