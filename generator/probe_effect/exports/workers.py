"""Other processes, one for each CPU: what depends on one submission alone, and the drawings, made apart.

A shard is kept by what it was made from (`store.kept`), so shards may be made in any order, anywhere and twice. A build
that finds them makes the same bytes as one that makes everything itself.
"""

import hashlib
import multiprocessing
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from probe_effect.charts.draw import draw_all, is_drawn, live_script
from probe_effect.charts.theme import Chart
from probe_effect.checks.run import check_contents
from probe_effect.errors import BadData
from probe_effect.numbers.catalogue import read_numbers
from probe_effect.pages import number_page, submission_page
from probe_effect.reduce.reading import is_kept
from probe_effect.store.kept import Kept
from probe_effect.store.places import DataFolder, SubmissionFolder

FEWEST_CHARTS = 16
"""Fewer are drawn sooner than processes are started."""


SAFE_PATH = "PYTHONSAFEPATH"


def cpus() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """`count` fresh interpreters: the drawing program has threads, which a forked process would lose."""
    before = os.environ.get(SAFE_PATH, "")
    os.environ[SAFE_PATH] = "1"  # they begin with `python -c`, which looks for modules in the working folder
    try:
        with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool:
            yield pool
    finally:
        os.environ[SAFE_PATH] = before


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


FEWEST = 8
"""Fewer new submissions are made sooner than a process is started."""

SHARDS_PER_WORKER = 3
"""So that no worker waits long for the last, and the progress shows; each shard reads all suites again."""


@dataclass(frozen=True, slots=True)
class Shard:
    """The `number`th of `of` shards, from 1; a machine belongs to one, by its name, whatever else there is."""

    number: int
    of: int

    def has(self, files: SubmissionFolder) -> bool:
        """Whether a submission belongs to it."""
        digest = hashlib.sha256(files.machine.encode()).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1


def make_shard(data: DataFolder, shard: Shard) -> int:
    """Make and keep the numbers of a shard, what `check` says of them, their pages and their drawings.

    Returns: how many submissions it has. What is unsound is left to the command that reads it next.
    """
    folders = [files for files in data.submissions() if shard.has(files)]
    check_contents(folders, data)
    with suppress(BadData):
        catalogue = read_numbers(data, [files for files in folders if is_kept(files, data.kept)])
        for one in catalogue.everything:
            number_page.write_all(one, catalogue)
            if one.metric == "time":
                for chart in submission_page.charts(catalogue, one):
                    draw_all(chart, data.kept)
    return len(folders)


def make_shards(data: DataFolder, workers: int | None = None) -> Iterator[str]:
    """Make everything that is not kept yet by as many processes as there are CPUs; how far it is, from time to time.

    Nothing is done where nothing can be kept, or little is to be done.
    """
    count = workers or cpus()
    folders = data.submissions()
    new = sum(not is_kept(files, data.kept) for files in folders)
    if data.kept.folder is None or count < 2 or new < FEWEST:
        return
    yield f"numbers of {new} submissions, {count} at a time"
    shards = [Shard(number, count * SHARDS_PER_WORKER) for number in range(1, count * SHARDS_PER_WORKER + 1)]
    with processes(count) as pool:
        waiting = [pool.submit(make_shard, data, shard) for shard in shards]
        done = 0
        for finished in as_completed(waiting):
            before, done = done, done + finished.result()
            if done * 10 // len(folders) > before * 10 // len(folders):
                yield f"{done} of {len(folders)}"
