"""`probe-effect dictionary`: the data format in writing, kept equal to the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.option("--write", is_flag=True, help="Write data/README.md, data/LICENSE and data/schema/.")
@data_option
def dictionary(data_path: Path | None, write: bool) -> None:  # noqa: FBT001 (click passes options by name)
    """Print what every column, key and rule of the data format means."""
    from probe_effect.exports.dictionary import readme, written_files

    if not write:
        output.product(readme())
        return
    root = data_folder(data_path).root
    for name, text in written_files().items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        output.product(str(path))
