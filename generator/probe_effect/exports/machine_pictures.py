"""What a machine's page has to show elsewhere: the picture of a link to it, and a badge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.charts.badge import badge
from probe_effect.charts.draw import draw_png
from probe_effect.charts.site_card import machine_card
from probe_effect.exports.files import write
from probe_effect.numbers import names
from probe_effect.pages import findings, machine_page, wording

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.charts.theme import Chart
    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.store.kept import Kept


def machine_cards(catalogue: Catalogue) -> dict[str, Chart]:
    """Every machine whose times were measured, to the picture of a link to its page."""
    found = {}
    for machine, submissions in catalogue.numbers.machines().items():
        document, costs = submissions[0].document, findings.briefly(machine, catalogue)
        found[machine] = machine_card(machine, names.machine_name(document), wording.tier(document), costs)
    return found


def write_machine_pictures(catalogue: Catalogue, work: Path, cache: Kept) -> None:
    """Write picture and badge of every machine whose times were measured, beside its page.

    Args:
        cache: drawings of earlier builds.
    """
    for machine, card in machine_cards(catalogue).items():
        write(work / "static" / machine_page.card(machine), draw_png(card, "card", cache, scale=1))
        write(work / "static" / machine_page.badge(machine), badge(findings.briefly(machine, catalogue)))
