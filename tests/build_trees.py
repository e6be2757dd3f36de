"""A small source tree that `make` builds, for tests of what builds one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MAKEFILE = """\
greeting: hello.part world.part
\t{recipe}
\tcat hello.part world.part > greeting
%.part: %.txt
\tcp $< $@
clean:
\trm -f *.part greeting
"""


def small_tree(folder: Path, *, recipe: str = "true") -> Path:
    """Three files in `folder`, which must not exist; `recipe` is a command that the build runs too."""
    folder.mkdir(parents=True)
    (folder / "Makefile").write_text(MAKEFILE.format(recipe=recipe), encoding="utf-8")
    (folder / "hello.txt").write_text("hello\n", encoding="utf-8")
    (folder / "world.txt").write_text("world\n", encoding="utf-8")
    return folder
