"""Where `site/layouts/_partials/block-dots.html` draws the differences of a number's blocks, on the number's page."""

from probe_effect import units
from probe_effect.model import Estimate
from probe_effect.pages import instructions
from probe_effect.reduce.blocks import BlockTable
from probe_effect.reduce.submission import Number

WIDTH, ROW_HEIGHT, EDGE = 720, 5, 6
"""Of the drawing, of the line of a block, and what is left free around them; px."""

FEWEST = 3
"""Blocks of a drawing: fewer are read from their table."""


def block_dots(one: Number, table: BlockTable) -> dict[str, object] | None:
    """The places of its differences, of its estimate with the interval, and of 0 where it is among them; px.

    None for a number without differences, or with few.
    """
    blocks = [found for block in table.blocks if (found := table.differences(block))]
    ends = [end for end in one.cost or () if end is not None]
    values = sorted([*ends, *(value for found in blocks for value in found)])
    if len(blocks) < FEWEST or not ends or values[0] == values[-1]:
        return None

    def place(value: float) -> int:
        return round(EDGE + (value - values[0]) / (values[-1] - values[0]) * (WIDTH - 2 * EDGE))

    return {
        "width": WIDTH,
        "height": 2 * EDGE + ROW_HEIGHT * (len(blocks) - 1),
        "dots": [[place(value), EDGE + ROW_HEIGHT * line] for line, found in enumerate(blocks) for value in set(found)],
        "value": place(ends[0]),
        "interval": [place(min(ends)), place(max(ends))],
        "zero": place(0.0) if values[0] <= 0 <= values[-1] else None,
        "ends": [
            units.duration(end) if one.is_time else instructions.count(Estimate(end)) for end in (values[0], values[-1])
        ],
    }
