"""The whole way from `data/` to a finished site, with the index of its search."""

import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import distributions
from pathlib import Path

from probe_effect.checks.run import check_all
from probe_effect.errors import BadData, HostNotReady, ProbeEffectError
from probe_effect.exports.assemble import ADDRESSES, FOLDERS, assemble
from probe_effect.exports.hugo import SiteOptions, mounts, root_addresses, run_hugo, swap
from probe_effect.exports.workers import make_shards
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.store.kept import code_version
from probe_effect.store.places import DataFolder
from probe_effect.store.release_file import data_version, folders_digest


@dataclass(frozen=True, slots=True)
class BuildPlaces:
    """Where a build reads and writes."""

    project: Path
    data: DataFolder
    out: Path

    @property
    def work(self) -> Path:
        """The assembled input of Hugo: the checkout's `build/`, so `build/content`; else beside the site."""
        own = self.project / "build"
        return own if self.out == own / "site" else self.out.with_name(f"{self.out.name}.work")


def build_site(places: BuildPlaces, options: SiteOptions) -> Iterator[str]:
    """Check, assemble, run Hugo, make the search's index and swap; each step is yielded before it is taken.

    Where the site is of just these data, settings and programs already, nothing is built.

    Raises: BadData with every problem when `data/` is unsound, ProbeEffectError when Hugo fails, HostNotReady when a
        disk is full. Either way the previous site stays as it was.
    """
    try:
        places.work.mkdir(parents=True, exist_ok=True)
        with (places.work / "lock").open("w") as lock:  # the kernel lets go of it when a build ends, however it does
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield "waiting for another build here to end"
                fcntl.flock(lock, fcntl.LOCK_EX)
            made_of, record = digest(places.project, places.work, places.data.root, options), places.work / RECORD
            is_whole = (places.out / "index.html").is_file() and record.is_file()
            if is_whole and record.read_text(encoding="utf-8", errors="replace") == made_of:
                yield "unchanged since the last build; to rebuild, delete the site"
                return
            record.unlink(missing_ok=True)
            yield from _build_site(places, options)
            record.write_text(made_of, encoding="utf-8")
    except OSError as error:
        msg = f"{error.filename or places.work}: {error.strerror}. The site in {places.out} is as it was before."
        raise HostNotReady(msg) from error


def _build_site(places: BuildPlaces, options: SiteOptions) -> Iterator[str]:
    yield from assemble_work(places, options)
    yield "Hugo"
    fresh = places.out.with_name(f"{places.out.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    run_hugo(places.project, places.work, fresh, fitted(options, places))
    every_page_is_there(fresh, places.work)
    root_addresses(fresh, options.base_path)
    yield "search index"
    index_site(fresh)
    swap(fresh, places.out)


def every_page_is_there(site: Path, work: Path) -> None:
    """Raises: ProbeEffectError where a machine, submission, case, number or source has no page in the site."""
    addresses = (work / ADDRESSES).read_text(encoding="utf-8").splitlines()
    if missing := [address for address in addresses if not (site / address / "index.html").is_file()]:
        found = f"{len(missing)} of {len(addresses)} pages are not in the site, /{missing[0]}/ among them"
        raise ProbeEffectError(f"{found}. Give what took their place another id under data/.")


def fitted(options: SiteOptions, places: BuildPlaces) -> SiteOptions:
    """`options` with the version of the data, and with the guide only where its numbers are: in the checkout's data."""
    is_own = places.data.root.resolve() == (places.project / "data").resolve()
    return replace(options, data_version=data_version(places.data), has_guide=is_own)


def assemble_work(places: BuildPlaces, options: SiteOptions) -> Iterator[str]:
    """Check the data and fill the work folder again; each step is yielded before it is taken. Raises: BadData."""
    yield from make_shards(places.data)
    yield "checking data"
    problems = check_all(places.data)
    if any(problem.severity == "error" for problem in problems):
        raise BadData(problems)
    catalogue = read_catalogue(places.data, options.base_url)
    for folder in FOLDERS:
        shutil.rmtree(places.work / folder, ignore_errors=True)
        (places.work / folder).mkdir(parents=True)
    yield from assemble(catalogue, places.work, places.data.kept, places.project)


RECORD = "made-of.txt"
"""In the work folder: the digest of what the site beside it was made of."""


def digest(project: Path, work: Path, data: Path, options: SiteOptions) -> str:
    """A digest of everything that decides what a site is: data, hand-written parts, settings, code and libraries."""
    written = [source for source in _sources(project, work) if source.exists()]
    files = [path.read_bytes() for path in written if path.is_file()]
    libraries = sorted(f"{one.name} {one.version}" for one in distributions())
    parts = (
        folders_digest([data, *(path for path in written if path.is_dir())]),
        *(hashlib.sha256(content).hexdigest() for content in files),
        code_version("."),
        repr(options),
        sys.version,
        *libraries,
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _sources(project: Path, work: Path) -> list[Path]:
    """What people write for Hugo: the settings and layouts, and all that is mounted but the work folder."""
    paths = (Path(str(one["source"])) for one in mounts(project, work))
    return [project / "site", *(path for path in paths if not path.is_relative_to(work.resolve()))]


WORD_CHARACTERS = "-_:"
"""Parts of words here: `sys_enter_read`, `raw_syscalls:sys_enter`, `trace-cmd`."""

UNUSED = ("*-ui.css", "*-ui.js", "pagefind-highlight.js")
"""Pagefind's own pages; ours is `site/assets/js/search.js`."""


ALONE = frozenset({"charts", "results", "pagefind"})
"""Folders with a page for each figure and number: many and alike, and not searched (layouts/baseof.html)."""


def index_site(site: Path) -> None:
    """Write `pagefind/` into the finished `site`. Raises: ProbeEffectError with Pagefind's own words."""
    words = f"--include-characters={WORD_CHARACTERS}"  # a hyphen first would be an option
    folders = ",".join(sorted(path.name for path in site.iterdir() if path.is_dir() and path.name not in ALONE))
    # Of results only the pages of submissions.
    searched = f"{{index.html,{{{folders}}}/**/*.html,{{charts,results}}/index.html,results/*/*/index.html}}"
    # -P: a file pagefind.py in the working folder would be run in its place.
    command = [sys.executable, "-P", "-m", "pagefind", "--site", str(site), words, "--glob", searched, "--quiet"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise ProbeEffectError(f"The search index of {site} could not be made:\n{finished.stdout}{finished.stderr}")
    for pattern in UNUSED:
        for path in (site / "pagefind").glob(pattern):
            path.unlink()
