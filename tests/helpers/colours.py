"""The colours of the design tokens in each theme, and the contrast between two of them as WCAG 2 defines it."""

from __future__ import annotations

import re

import numpy as np

from helpers.builders import PROJECT

SHEETS = PROJECT / "site/assets/css"
THEMES = ("light", "dark")
TOKENS: dict[str, tuple[str, str]] = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([a-z0-9-]+): light-dark\((#\w{6}), (#\w{6})\)", (SHEETS / "tokens.css").read_text(encoding="utf-8")
    )
}
"""The name of each token of a colour, to that colour in the light and in the dark theme."""

TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.119192, 0.9503041]]
)


def linear(colour: str) -> np.ndarray:
    share = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    low, high = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)
