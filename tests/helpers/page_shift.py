"""How much of a page moved without the reader's doing."""

from __future__ import annotations

MOST_SHIFT = 0.01

LAYOUT_SHIFT = """() => new Promise(done => {
    let sum = 0;
    new PerformanceObserver(list => list.getEntries().forEach(one => { if (!one.hadRecentInput) sum += one.value; }))
        .observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => done(sum)));
})"""
"""The page's cumulative layout shift until now."""
