"""The typeface as the site serves it: Source Serif 4, cut to the characters and the axes that pages use.

    .venv/bin/python site/typeface/cut.py

The whole fonts lie beside this file, and the cut ones in `site/static/fonts/`. Run it after a change of `SIGNS` or
`CUTS`; `tests/built_site/test_typeface.py` says when a page has a character that is missing. Accented letters are in
names only: those that are not in `SIGNS` come from the stand-in.
"""

from __future__ import annotations

import string
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "static/fonts"

UPRIGHT = HERE / "source-serif-4-latin-opsz-normal.woff2"
ITALIC = HERE / "source-serif-4-latin-wght-italic.woff2"

SIGNS = string.ascii_letters + string.digits + string.punctuation + " \u00a0\u2009\u202f–—‘’“”…†‡·×±−µ§°éèöüäøñ¹²³½→←"

Axes = dict[str, float | tuple[float, float, float]]

CUTS: dict[str, tuple[Path, Axes]] = {
    "source-serif-4-text": (UPRIGHT, {"opsz": 20, "wght": (400, 400, 650)}),
    "source-serif-4-display": (UPRIGHT, {"opsz": 48, "wght": 380}),
    "source-serif-4-italic": (ITALIC, {"wght": 400}),
}
"""File to what it is cut from, and the value, or the least, usual and greatest value, of each axis."""

FEATURES = ["ccmp", "liga", "kern", "mark", "mkmk", "pnum", "tnum"]


def cut(whole: Path, axes: Axes) -> TTFont:
    """A font with these axes and the characters of `SIGNS`."""
    font = TTFont(whole, recalcTimestamp=False)
    subsetter = Subsetter(Options(layout_features=FEATURES, hinting=False, notdef_outline=True))
    subsetter.populate(text=SIGNS)
    subsetter.subset(font)
    font = instantiateVariableFont(font, axes)
    font.flavor = "woff2"
    return font


def main() -> None:
    """Write the files and print how large each is."""
    for name, (whole, axes) in CUTS.items():
        file = TARGET / f"{name}.woff2"
        cut(whole, axes).save(file)
        print(f"{file.stat().st_size:7} {file.name}")


if __name__ == "__main__":
    main()
