"""The work folder: pages, fragments, charts, scripts and data as Hugo takes them, and as `/data/` publishes them.

`content/` and `assets/` are read by Hugo; `static/` is published as it is. Raw rows are files of the site itself, so
that a number leads to its rows wherever the site is served.

What depends on one submission alone, and the drawings, is made by other processes, one for each CPU. A shard is kept by
what it was made from (`store/kept.py`), so shards may be made in any order, anywhere and twice. A build that finds them
makes the same bytes as one that makes everything itself.
"""

import hashlib
import json
import multiprocessing
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed, wait
from contextlib import contextmanager, suppress
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from probe_effect.checks.run import check_contents
from probe_effect.compare.subjects import subjects
from probe_effect.model import BadData, ProbeEffectError
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, is_kept, read_numbers
from probe_effect.site import figures, script_values
from probe_effect.site.advising import ADVISING, FIRST, advise_files
from probe_effect.site.charts.draw import badge, draw_all, is_drawn, live_script
from probe_effect.site.charts.theme import LOOKS, Chart, look
from probe_effect.site.costs import cost_files, quoted
from probe_effect.site.data_folder import write_data_section
from probe_effect.site.facts import verdicts
from probe_effect.site.files import copy, write
from probe_effect.site.pages import addresses, number_page, parts, site, submission_page, tracer_page
from probe_effect.site.releases import copy_releases, feed, series_feed
from probe_effect.site.script_values import FORM, INDEX, MATRIX, machine_values, script_json
from probe_effect.store.kept import Kept
from probe_effect.store.places import DataFolder, SubmissionFolder, own_headers
from probe_effect.store.suite_file import workload_source
from probe_effect.store.transcripts import ROOT_NEED, Recorded, Transcript

FEWEST_CHARTS = 16  # fewer are drawn sooner than processes are started
SAFE_PATH = "PYTHONSAFEPATH"


def cpus() -> int:
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
def drawing(charts: Iterable[Chart], cache: Kept) -> Iterator[None]:
    """Have those of `charts` that are not kept drawn by other processes until the block ends.

    Nothing is drawn here where nothing can be kept, or little is to be drawn: it is drawn when it is asked for.
    """
    new = [chart for chart in charts if not is_drawn(chart, cache)]
    if cache.folder is None or len(new) < FEWEST_CHARTS or cpus() < 2:
        yield
        return
    with processes(cpus()) as pool:
        try:
            waiting: list[Future[Any]] = [
                pool.submit(live_script, cache),
                *(pool.submit(draw_all, chart, cache) for chart in new),
            ]
            yield
            wait(waiting)  # what failed is made again where it is asked for, and fails there
        finally:
            pool.shutdown(cancel_futures=True)


FEWEST = 8  # fewer new submissions are made sooner than a process is started
# So that no worker waits long for the last, and the progress shows; each shard reads all suites again.
SHARDS_PER_WORKER = 3


class Shard(NamedTuple):
    """The `number`th of `of` shards, from 1; a machine belongs to one, by its name, whatever else there is."""

    number: int
    of: int

    def has(self, files: SubmissionFolder) -> bool:
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
        for submission in catalogue.everything:
            number_page.write_all(submission, catalogue)
            if submission.metric == "time":
                for chart in submission_page.charts(catalogue, submission):
                    draw_all(chart, data.kept)
    return len(folders)


def make_shards(data: DataFolder, workers: int | None = None) -> Iterator[str]:
    """Make everything that is not kept yet by as many processes as there are CPUs; how far it is, from time to time.

    Nothing is done where nothing can be kept, or little is to be done.
    """
    count, folders = workers or cpus(), data.submissions()
    new = sum(not is_kept(files, data.kept) for files in folders)
    if data.kept.folder is None or count < 2 or new < FEWEST:
        return
    yield f"numbers of {new} submissions, {count} at a time"
    of, done = count * SHARDS_PER_WORKER, 0
    with processes(count) as pool:
        waiting = [pool.submit(make_shard, data, Shard(number, of)) for number in range(1, of + 1)]
        for finished in as_completed(waiting):
            before, done = done, done + finished.result()
            if done * 10 // len(folders) > before * 10 // len(folders):
                yield f"{done} of {len(folders)}"


# The parts of the work folder, rebuilt from nothing each time; what others refer to comes first.
FOLDERS = ("static", "assets", "content")
ADDRESSES = "addresses.txt"  # in the work folder: where each page is to be that comes from data
# All machines, which a page loads when its reader asks for one that the form does not offer from the start.
LIST = "machines.json"
# The data of scripts that layouts read, and publish beside the others.
OF_LAYOUTS = frozenset({ADVISING, FIRST, FORM, INDEX, MATRIX})


def assemble(catalogue: Catalogue, work: Path, cache: Kept, project: Path) -> Iterator[str]:
    """Fill the empty `FOLDERS` of `work`, and say each step before it is taken.

    `project` is the checkout with the hand-written pages, which say what ratios they quote, and the diagrams.
    """
    yield "pages"
    charts = figures.with_pictures(site.charts(catalogue), catalogue.edition)
    with drawing([*charts, *figures.cards(catalogue)], cache):
        _write_pages(catalogue, work, project)
        figures.write_figures(charts, catalogue, work)
        figures.write_diagrams(catalogue, work, project / "site" / "diagrams")
        yield "raw data"
        _copy_scripts(catalogue, work)
        _copy_data(catalogue, work)
        write(work / "static" / "data" / "changes.xml", feed(catalogue))
        write(work / "static" / "kernels" / "series.xml", series_feed(catalogue))
        write_data_section(catalogue, work)
        copy_releases(catalogue, work / "static" / "releases")
        yield f"{len(charts)} charts"
    figures.write_drawings(charts, work, cache, catalogue.version)
    figures.write_pictures(catalogue, work, cache)
    write(work / "static" / "js" / "vega.js", live_script(cache))


def _write_pages(catalogue: Catalogue, work: Path, project: Path) -> None:
    static, assets, content = work / "static", work / "assets", project / "content"
    addresses = []
    for path, text in chain(site.content(catalogue), tracer_page.write_plain(content)):
        write(work / "content" / path, text)
        addresses.append(path.removesuffix(".md"))
        if (content / path).exists():
            addresses.append(addresses[-1])
    for name, pages in site.number_pages(catalogue):
        write(assets / "numbers" / name, pages)
        addresses += [f"results/{page['path']}" for page in json.loads(pages)]
    if twice := [address for address, times in Counter(addresses).items() if times > 1]:
        raise ProbeEffectError(f"/{twice[0]}/: two pages have this address. Give one of them another id under data/.")
    write(work / ADDRESSES, "".join(f"{address}\n" for address in addresses))
    fragments = site.fragment_files(catalogue)
    facts, tables = quoted(catalogue, project, fragments.values())
    for name, text in (fragments | tables).items():
        write(assets / "fragments" / name, text)
    read_by_layouts = {
        "facts": facts,
        "citations": {name: asdict(citation) for name, citation in site.citations(catalogue).items()},
        "labels": labels(catalogue),
        "transcripts": transcript_values(catalogue),
        "references": [reference.model_dump() for reference in catalogue.references],
        "claims": verdicts(catalogue),
    }
    for name, values in read_by_layouts.items():
        write(assets / f"{name}.json", json.dumps(values, ensure_ascii=False))
    for claim in verdicts(catalogue):
        write(static / "claims" / f"{claim['id']}.svg", badge([(claim["id"], claim["verdict"])]))
    for name, text in script_data(catalogue):
        write((assets if name in OF_LAYOUTS else static) / "data" / name, text)
    looks = json.dumps(tracer_looks(catalogue))
    for kind in (assets, static):
        write(kind / "data" / "tracer-looks.json", looks)


def script_data(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Every file that the scripts of pages load, in the order of their pages: its name below `/data/` and its text."""
    machines = subjects(catalogue)
    yield LIST, script_json([machine_values(machine) for machine in machines])
    yield from script_values.guidance_files(catalogue)
    yield from cost_files(catalogue)
    yield from advise_files(catalogue)
    yield from script_values.matrix_file(catalogue, machines)
    yield from script_values.explore_files(catalogue, machines)
    yield from script_values.compare_files(catalogue, machines)


def _copy_scripts(catalogue: Catalogue, work: Path) -> None:
    for folder in catalogue.suites:
        source = workload_source(folder.folder, folder.suite)
        # Another suite's workload lies with the scripts that it belongs to here; a header beside the suites, as there.
        places = {path: f"{folder.suite.id}/{path.name}" for path in folder.scripts()}
        places |= {source: f"{folder.suite.id}/workload/{source.name}"}
        places |= {header: header.name for header in own_headers(source)}
        for path, target in places.items():
            for kind in ("assets", "static"):
                copy(path, work / kind / "scripts" / target)


def _copy_data(catalogue: Catalogue, work: Path) -> None:
    """Only files that were read and checked, each by its known name."""
    data = work / "static" / "data"
    for source in catalogue.sources:
        for name in ("source.toml", "figures.csv"):
            copy(source.folder / name, data / "published" / source.id / name)
    for submission in catalogue.everything:
        for path in submission.files.content:
            copy(path, data / "results" / submission.id / path.name)


def labels(catalogue: Catalogue) -> dict[str, dict[str, dict[str, str]]]:
    """For suites and sources each id to its `text`, `href` and, of sources, `title`: `labels.json`."""
    suites = (folder.suite for folder in catalogue.suites)
    return {
        "suites": {suite.id: {"text": suite.title, "href": addresses.suite(suite.id)} for suite in suites},
        "sources": {
            source.id: {
                "text": parts.source_label(source.document),
                "href": addresses.figure(source.id),
                "title": source.document.title,
            }
            for source in catalogue.sources
        },
    }


def tracer_looks(catalogue: Catalogue) -> dict[str, dict[str, object]]:
    """Tracer id to its look, for every tracer that the data or the program knows: `data/tracer-looks.json`.

    `series` is the number of the variable `--series-1` and so on, `colour` the sentinel of specs, `shape` and `dash`
    are as Vega takes them.
    """
    measured = {case.tracer for submission in catalogue.everything for case in submission.numbers}
    published = {figure.tracer for source in catalogue.sources for figure in source.figures if figure.tracer}
    looks = {tracer: look(tracer) for tracer in sorted({*LOOKS, *measured, *published})}
    return {
        tracer: {
            "series": tracer_look.series,
            "colour": tracer_look.colour,
            "shape": tracer_look.shape,
            "dash": tracer_look.dash,
        }
        for tracer, tracer_look in looks.items()
    }


def transcript_values(catalogue: Catalogue) -> list[dict[str, Any]]:
    """Every recorded transcript, by chapter: `transcripts.json`; `chapter` is the stem of its file."""
    return [
        {
            "chapter": shown_transcript.chapter,
            **_transcript(shown_transcript.transcript, shown_transcript.recorded, catalogue),
        }
        for shown_transcript in catalogue.transcripts
        if shown_transcript.recorded is not None
    ]


def _transcript(transcript: Transcript, recorded: Recorded, catalogue: Catalogue) -> dict[str, Any]:
    run = next((run for run in catalogue.timed if run.machine == recorded.machine), None)
    return {
        "id": transcript.id,
        "asks": transcript.asks,
        "run": transcript.run.strip("\n"),
        "beside": transcript.beside or "",
        "is_root": ROOT_NEED in transcript.needs,
        "output": "\n".join(recorded.output),
        "exit_status": recorded.exit_status,
        "machine": names.machine_name(run) if run else recorded.machine,
        "href": addresses.machine(recorded.machine) if run else "",
        "kernel": recorded.kernel,
        "versions": [names.tool(command, version) for command, version in recorded.versions.items()],
        "date": names.date_words(recorded.date),
    }
