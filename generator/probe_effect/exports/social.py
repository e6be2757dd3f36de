"""The picture of a link to any page that has no chart of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.charts.draw import draw_png
from probe_effect.charts.site_card import site_card

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.store.kept import Kept


def write_site_card(work: Path, cache: Kept) -> None:
    """Write `og/site.png`.

    Args:
        cache: drawings of earlier builds.
    """
    path = work / "static" / "og" / "site.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(draw_png(site_card(), "card", cache, scale=1))
