"""A query with its answer, as `/data/` shows both: asked of the very files that are published."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from probe_effect import units
from probe_effect.pages.markdown import render

if TYPE_CHECKING:
    from pathlib import Path

QUERY = """\
SELECT tier, tracer, count(*) AS machines,
       min(cost_ns) AS least_ns, median(cost_ns) AS median_ns, max(cost_ns) AS greatest_ns
FROM 'costs.parquet'
WHERE "case" = '04-tracepoint-entry' AND current AND distinguishable AND reconciled IS NOT FALSE
GROUP BY tier, tracer
ORDER BY tier, median_ns, tracer
LIMIT 20;
"""
"""What one tracepoint costs with each tracer, over all machines of a tier: names of files are relative to `/data/`."""

COSTS = 3
"""How many columns at the end of a row are costs."""


def answer(data: Path) -> list[tuple[str, ...]]:
    """The rows that `QUERY` gives of the files in the folder `data`, as words."""
    with duckdb.connect() as engine:
        engine.execute("SET file_search_path = ?", [str(data)])
        engine.execute("SET threads = 1")
        rows = engine.execute(QUERY).fetchall()
    return [(*map(str, row[:2]), units.count(row[2]), *map(units.duration, row[-COSTS:])) for row in rows]


def write_query(data: Path) -> str:
    """The query and its answer as a fragment."""
    return render("fragments/query.md.j2", query=QUERY.strip(), rows=answer(data))
