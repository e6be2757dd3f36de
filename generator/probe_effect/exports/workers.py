"""Other processes, one for each CPU: those that share out a build, and those that draw while this one writes pages."""

import multiprocessing
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from probe_effect.charts.draw import draw_all, is_drawn, live_script
from probe_effect.charts.theme import Chart
from probe_effect.store.kept import Kept

FEWEST_CHARTS = 16
"""Fewer are drawn sooner than processes are started."""


def cpus() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processes(count: int) -> ProcessPoolExecutor:
    """`count` fresh interpreters: the drawing program has threads, which a forked process would lose."""
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))


@contextmanager
def drawing(charts: Iterable[Chart], cache: Kept, version: str) -> Iterator[None]:
    """Have those of `charts` that are not kept drawn by other processes until the block ends.

    Nothing is drawn here where nothing can be kept, or little is to be drawn: it is drawn when it is asked for.
    """
    new = [chart for chart in charts if not is_drawn(chart, cache, version)]
    if cache.folder is None or len(new) < FEWEST_CHARTS or cpus() < 2:
        yield
        return
    with processes(cpus()) as pool:
        try:
            waiting: list[Future[Any]] = [
                pool.submit(live_script, cache),
                *(pool.submit(draw_all, chart, cache, version) for chart in new),
            ]
            yield
            wait(waiting)  # what failed is made again where it is asked for, and fails there
        finally:
            pool.shutdown(cancel_futures=True)
