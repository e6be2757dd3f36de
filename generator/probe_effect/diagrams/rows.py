"""Stages of rows: a question, its answers, and what follows from each, box after box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.diagrams.diagram import Words
from probe_effect.diagrams.glyphs import LEADING, width_px
from probe_effect.diagrams.shapes import BASELINE, PADDING, Arrow, Drawing, Text, block, box, height_of, set_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.diagrams.diagram import Group, Row, Stage
    from probe_effect.diagrams.shapes import Box, Point

ACROSS = 18
"""Between boxes of one row: room for an arrow, px."""
ROW_GAP, GROUP_GAP, STAGE_GAP = 6, 14, 26


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths of a wide drawing, px: question, group, answer, each box that follows, and the cost."""

    stage: float
    group: float
    when: float
    cells: tuple[float, ...]
    cost: float


def draw_wide(stages: Sequence[Stage], columns: Columns) -> Drawing:
    """Each row from left to right; what several rows have in common stands before them, as high as they are."""
    made = Drawing(_width(columns))
    before: Box | None = None
    for stage in stages:
        top = made.height + (STAGE_GAP if before else 0.0)
        head = _stage(made, stage, columns, top)
        if before and head:
            made.arrows.append(Arrow(((before.middle[0], before.bottom), (head.middle[0], head.y))))
        before = head
    return made


def _width(columns: Columns) -> float:
    parts = [part for part in (columns.stage, columns.group, columns.when, *columns.cells) if part]
    return sum(parts) + (len(parts) - 1) * ACROSS + columns.cost


def _stage(made: Drawing, stage: Stage, columns: Columns, top: float) -> Box | None:
    """Draw a stage, and give the box of its question."""
    x = columns.stage + ACROSS if columns.stage else 0.0
    least = height_of([Words(stage.title, "strong")], columns.stage) if columns.stage else 0.0
    y, tips = top, []
    for group in stage.groups:
        y += GROUP_GAP if y > top else 0.0
        tips += _group(made, group, columns, x, y)
        y = made.height
    if not columns.stage:
        return None
    head = made.add(box([Words(stage.title, "strong")], (0.0, top), columns.stage, "heading", max(least, y - top)))
    made.arrows += [Arrow(((head.right, tip.middle[1]), (tip.x, tip.middle[1]))) for tip in tips]
    return head


def _group(made: Drawing, group: Group, columns: Columns, x: float, top: float) -> list[Box]:
    """Draw a group, and give the boxes that its question leads to; without one, its answers have the room."""
    inside = columns.group + ACROSS if columns.group else 0.0
    left, when = (x + inside, columns.when) if group.title else (x, columns.when + inside)
    y, firsts = top, []
    for row in group.rows:
        firsts.append(_row(made, row, (when, *columns.cells), columns.cost, (left, y)))
        y = made.height + ROW_GAP
    if not group.title:
        return firsts
    head = made.add(box([Words(group.title, "strong")], (x, top), columns.group, "heading", made.height - top))
    made.arrows += [Arrow(((head.right, one.middle[1]), (one.x, one.middle[1]))) for one in firsts]
    return [head]


def _row(made: Drawing, row: Row, widths: Sequence[float], cost: float, at: Point) -> Box:
    """Draw a row, and give its first box."""
    said = ((Words(row.when),), *row.cells)
    least = max(height_of(one, width) for one, width in zip(said, widths, strict=False))
    first = before = made.add(box(said[0], at, widths[0], "plain", least))
    for one, width in zip(said[1:], widths[1:], strict=False):
        now = made.add(box(one, (before.right + ACROSS, at[1]), width, "step", least))
        made.arrows.append(Arrow(((before.right, now.middle[1]), (now.x, now.middle[1]))))
        before = now
    if row.cost:
        lines = block([Words(row.cost.text, "strong")], cost - PADDING)
        top = before.middle[1] - len(lines) * LEADING / 2
        made.texts += [Text(made.width, one.y, one.text, one.style, "end") for one in set_lines(lines, 0.0, top)]
    return first


INDENT = 18


def draw_narrow(stages: Sequence[Stage], width: float) -> Drawing:
    """Everything one below the other, with a line from the question to each of its answers."""
    made = Drawing(width)
    x, tips = INDENT / 3, [0.0]
    for stage in stages:
        if not stage.title:
            _narrow_groups(made, stage, 0.0)
            continue
        top = made.height + (STAGE_GAP if made.height else 0.0)
        if top:
            made.arrows.append(Arrow(((x, tips[-1]), (x, top))))
        head = made.add(box([Words(stage.title, "strong")], (0.0, top), width, "heading"))
        tips = _narrow_groups(made, stage, INDENT)
        made.arrows.append(Arrow(((x, head.bottom), (x, tips[-1])), has_head=False))
        made.arrows += [Arrow(((x, tip), (INDENT, tip))) for tip in tips]
    return made


def _narrow_groups(made: Drawing, stage: Stage, left: float) -> list[float]:
    """Draw the rows of a stage, and give the heights of those that its question leads to."""
    tips = []
    for group in stage.groups:
        if group.title:
            made.height += GROUP_GAP
            made.texts.append(Text(left, made.height + BASELINE, group.title, "strong"))
            made.height += LEADING
        for row in group.rows:
            made.height += GROUP_GAP if made.height else 0.0
            _narrow_head(made, row, left)
            tips.append(_narrow_cells(made, row, left))
    return tips


def _narrow_head(made: Drawing, row: Row, left: float) -> None:
    """The answer, and at the end of its line the cost."""
    room = made.width - left
    if row.cost:
        made.texts.append(Text(made.width, made.height + BASELINE, row.cost.text, "strong", "end"))
        room -= width_px(row.cost.text, "strong") + PADDING
    lines = set_lines(block([Words(row.when)], room), left, made.height)
    made.texts += lines
    made.height += len(lines) * LEADING + 4


def _narrow_cells(made: Drawing, row: Row, left: float) -> float:
    """Draw what follows in a row, and give the height of the middle of its first box."""
    first = before = made.add(box(row.cells[0], (left, made.height), made.width - left))
    for one in row.cells[1:]:
        now = made.add(box(one, (left, made.height + ACROSS), made.width - left))
        made.arrows.append(Arrow(((now.middle[0], before.bottom), (now.middle[0], now.y))))
        before = now
    return first.middle[1]
