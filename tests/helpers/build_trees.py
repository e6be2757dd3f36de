"""A small source tree that `make` builds, for tests of what builds one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helpers.builders import PROJECT

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


KERNEL = """\
buildkernel: sys/conf/newvers.sh
\techo "$$MAKEFLAGS" > $$MAKEOBJDIRPREFIX/kernel
"""

NEWVERS = """\
TYPE="FreeBSD"
REVISION="14.2"
BRANCH="RELEASE-p1"
	BRANCH=${BRANCH_OVERRIDE}
RELEASE="${REVISION}-${BRANCH}"
"""
"""Lines of the form that FreeBSD's own have. Source:
https://github.com/freebsd/freebsd-src/blob/006a42a9cb173cefe32d169c46748d6f00c41315/sys/conf/newvers.sh"""


def kernel_sources(folder: Path, project: Path) -> Path:
    """What stands for FreeBSD's `/usr/src` in `folder`, with the suite's project that builds it; none may exist."""
    project.mkdir()
    text = (PROJECT / "data/suites/build/freebsd/Makefile").read_text(encoding="utf-8")
    (project / "Makefile").write_text(text.replace("/usr/src", str(folder)), encoding="utf-8")
    (folder / "sys" / "conf").mkdir(parents=True)
    (folder / "sys" / "conf" / "newvers.sh").write_text(NEWVERS, encoding="utf-8")
    (folder / "Makefile").write_text(KERNEL, encoding="utf-8")
    return folder


def small_tree(folder: Path, *, recipe: str = "true") -> Path:
    """Three files in `folder`, which must not exist; `recipe` is a command that the build runs too."""
    folder.mkdir(parents=True)
    (folder / "Makefile").write_text(MAKEFILE.format(recipe=recipe), encoding="utf-8")
    (folder / "hello.txt").write_text("hello\n", encoding="utf-8")
    (folder / "world.txt").write_text("world\n", encoding="utf-8")
    return folder
