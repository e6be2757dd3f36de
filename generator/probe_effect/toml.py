"""What is facts and not code, in a TOML file beside the module that reads it."""

import tomllib
from pathlib import Path
from typing import Any


def beside(module: str, name: str | None = None) -> Any:  # noqa: ANN401 (whatever the file has)
    """The tables of the file with the name of a module, which is given as its `__file__`, or with another `name`."""
    path = Path(module)
    return tomllib.loads(path.with_name(f"{name or path.stem}.toml").read_text(encoding="utf-8"))
