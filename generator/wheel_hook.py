"""Lays what takes a computation into the wheel: the numbers of its data, so that no installed program makes them again.

A build hook of hatchling: https://hatch.pypa.io/latest/plugins/build-hook/custom/
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

if TYPE_CHECKING:
    from probe_effect.model import Problem


class NumbersHook(BuildHookInterface):  # type: ignore[misc]  # hatchling is there only while a wheel is built
    """Reduces all submissions once, with the code that goes into the wheel and the numpy of the build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the data, their kept numbers and the lists of released files. Raises: BadData where `data/` is unsound.

        Args:
            version: of the wheel's form; an editable one runs from its checkout, which keeps what it makes itself.
            build_data: what hatchling puts into the wheel, by where it lies.
        """
        if version == "editable":
            return
        root = Path(self.root)
        self._made = TemporaryDirectory()
        sys.path.insert(0, str(root / "generator"))
        from probe_effect.model import BadData  # noqa: PLC0415  the path is known only now
        from probe_effect.numbers.catalogue import read_submission  # noqa: PLC0415
        from probe_effect.store.kept import Kept  # noqa: PLC0415
        from probe_effect.store.places import DataFolder  # noqa: PLC0415
        from probe_effect.store.release_file import data_files  # noqa: PLC0415

        data = DataFolder(root / "data", Kept(Path(self._made.name)))
        problems: list[Problem] = []
        for files in data.submissions():  # one by one, because all of them together would be kept a second time
            read_submission(files, data, problems)
        if problems:
            raise BadData(problems)
        placed = {self._made.name: "probe_effect/kept"}
        placing = [root / "data" / "changes.toml", *sorted(root.glob("data/releases/*/manifest.json"))]
        placing += sorted(root.glob("data/tools/*.toml"))
        placing += [path for _, path in data_files(data)]
        placed |= {str(path): f"probe_effect/{path.relative_to(root).as_posix()}" for path in placing}
        build_data["force_include"].update(placed)

    def finalize(self, version: str, *_: object) -> None:
        """Remove what was made for the wheel."""
        if version != "editable":
            self._made.cleanup()
