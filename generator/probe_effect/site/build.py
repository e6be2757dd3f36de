"""From `data/` to a finished site: the work folder, Hugo, the index of the search; swapped in only when it is whole."""

import ctypes
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from probe_effect.checks.run import check_all
from probe_effect.model import BadData, HostNotReady, ProbeEffectError
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.assemble import ADDRESSES, FOLDERS, assemble, make_shards
from probe_effect.store.kept import code_version
from probe_effect.store.places import DataFolder
from probe_effect.store.release_file import data_version, folders_digest

UNUSED_KINDS = ("taxonomy", "term", "RSS")  # pages that Hugo makes for a blog; the feed of changes is the generator's


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """The settings that the owner of a site may give; none is needed."""

    base_url: str = "/"
    repository: str = ""
    data_version: str = ""
    has_guide: bool = True

    @property
    def address(self) -> str:
        """Where the site will be, with `/` at its end; empty where that is not known."""
        return f"{self.base_url.rstrip('/')}/" if urlsplit(self.base_url).netloc else ""


def mounts(project: Path, work: Path, *, has_guide: bool = True) -> list[dict[str, Any]]:
    """Hugo's mounts: hand-written and generated files side by side. `data/` is never mounted as Hugo data.

    Without the guide's chapters where they do not belong to the site: they quote numbers that other data may not have.
    """
    pairs = [
        (project / "content", "content"),
        (work / "content", "content"),
        (project / "site" / "adapters", "content"),
        (project / "CONTRIBUTING.md", "content/submit.md"),
        (project / "site" / "layouts", "layouts"),
        (project / "site" / "assets", "assets"),
        (work / "assets", "assets"),
        (project / "site" / "static", "static"),
        (project / ".github" / "examples", "assets/scripts/examples"),
        (project / ".github" / "examples", "static/scripts/examples"),
        (work / "static", "static"),
    ]
    made: list[dict[str, Any]] = [{"source": str(source.resolve()), "target": target} for source, target in pairs]
    if not has_guide:
        made[0]["files"] = ["! guide/**"]
    return made


def write_configuration(project: Path, work: Path, options: SiteOptions) -> Path:
    """The second configuration file, which adds to `site/hugo.toml` what changes from build to build."""
    path = (work / "hugo.json").resolve()
    configuration = {
        "baseURL": "/",  # with a path in it, relative addresses of style sheets and scripts would name it twice
        "params": {
            "repository": options.repository,
            "dataVersion": options.data_version,
            "isOwnData": options.has_guide,
            "address": options.address,
            "citedSite": options.base_url.rstrip("/"),
        },
        "module": {"mounts": mounts(project, work, has_guide=options.has_guide)},
        # A site map must have whole addresses: https://www.sitemaps.org/protocol.html
        "disableKinds": [*UNUSED_KINDS, *([] if options.address else ["sitemap"])],
        "enableRobotsTXT": bool(options.address),
    }
    path.write_text(json.dumps(configuration, indent=1), encoding="utf-8")
    return path


def hugo_command(project: Path, configuration: Path) -> list[str]:
    """How Hugo is called, without its verb. Raises: HostNotReady when it is not installed."""
    program = Path(sys.executable).with_name("hugo")
    if not program.is_file():
        msg = f"{program} is not there. The site's parts are an extra: `uv sync --extra site`, or `make setup-site`."
        raise HostNotReady(msg)
    source = (project / "site").resolve()
    return [str(program), "--source", str(source), "--config", f"hugo.toml,{configuration}"]


def environment() -> dict[str, str]:
    """The environment of Hugo: where programs and temporary files are, and no other setting of the caller."""
    return {name: value for name in ("PATH", "HOME", "TMPDIR") if (value := os.environ.get(name)) is not None}


def run_hugo(project: Path, work: Path, destination: Path, options: SiteOptions) -> None:
    """Build the site into the fresh folder `destination`. Raises: ProbeEffectError with Hugo's own words."""
    command = hugo_command(project, write_configuration(project, work, options))
    # Panicking on warnings would hide their text; they are turned into a failure below.
    command += ["--destination", str(destination.resolve()), "--noBuildLock", "--logLevel", "warn"]
    finished = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment(), check=False)
    messages = [line for line in (finished.stdout + finished.stderr).splitlines() if line.startswith(("ERROR", "WARN"))]
    if finished.returncode or messages:
        words = "\n".join(messages) or finished.stdout + finished.stderr
        raise ProbeEffectError(f"Hugo could not build the site from {work}:\n{words}")


def root_addresses(site: Path, base_url: str) -> None:
    """Let the addresses in `404.html`, which Hugo made relative, begin with the path of the site, such as `/project/`.

    A host shows that page at any depth.
    """
    page, path = site / "404.html", urlsplit(base_url).path.rstrip("/")
    text = re.sub(r'((?:href|src|content)=)"\./', rf'\1"{path}/', page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8")


def swap(fresh: Path, target: Path) -> None:
    """Put the folder `fresh` in the place of `target`; a reader never sees half a site, nor none."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        fresh.rename(target)
        return
    old = fresh
    if not _exchange(fresh, target):
        old = target.with_name(f"{target.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        target.rename(old)
        fresh.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two folders at once, as renameat2(2) does; False where the C library or the file system cannot."""
    try:
        exchange = ctypes.CDLL(None).renameat2
    except AttributeError:
        return False
    here, exchanging = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of include/uapi/linux/fcntl.h and fs.h
    return bool(exchange(here, os.fsencode(first), here, os.fsencode(second), exchanging) == 0)


class BuildPlaces(NamedTuple):
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
            made_of, record = digest(places, options), places.work / RECORD
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
    root_addresses(fresh, options.base_url)
    yield "search index"
    index_site(fresh)
    swap(fresh, places.out)


def every_page_is_there(site: Path, work: Path) -> None:
    """Raises: ProbeEffectError where a machine, submission, case, number or source has no page in the site."""
    addresses = (work / ADDRESSES).read_text(encoding="utf-8").splitlines()
    if missing := [address for address in addresses if not (site / address / "index.html").is_file()]:
        lost = f"{len(missing)} of {len(addresses)} pages are not in the site, /{missing[0]}/ among them"
        raise ProbeEffectError(f"{lost}. Give what took their place another id under data/.")


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


RECORD = "made-of.txt"  # in the work folder: the digest of what the site beside it was made of


def digest(places: BuildPlaces, options: SiteOptions) -> str:
    """A digest of everything that decides what a site is: data, hand-written parts, settings, code and libraries."""
    work = places.work.resolve()
    mounted = (Path(mount["source"]) for mount in mounts(places.project, work))
    written = [places.project / "site", *(path for path in mounted if not path.is_relative_to(work))]
    parts = (
        folders_digest([places.data.root, *(path for path in written if path.is_dir())]),
        *(hashlib.sha256(path.read_bytes()).hexdigest() for path in written if path.is_file()),
        code_version("."),
        repr(options),
        sys.version,
        *sorted(f"{distribution.name} {distribution.version}" for distribution in distributions()),
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


UNUSED = ("*-ui.css", "*-ui.js", "pagefind-highlight.js")  # Pagefind's own pages; ours is `site/assets/js/search.js`


def index_site(site: Path) -> None:
    """Write `pagefind/` into the finished `site`. Raises: ProbeEffectError with Pagefind's own words."""
    # Parts of words here: `sys_enter_read`, `raw_syscalls:sys_enter`, `trace-cmd`; a hyphen first would be an option.
    words = "--include-characters=-_:"
    # Folders with a page for each figure and number, many and alike, are not searched (layouts/baseof.html).
    alone = {"charts", "results", "pagefind"}
    folders = ",".join(sorted(path.name for path in site.iterdir() if path.is_dir() and path.name not in alone))
    # Of results only the pages of submissions.
    searched = f"{{index.html,{{{folders}}}/**/*.html,{{charts,results}}/index.html,results/*/*/index.html}}"
    # -P: a file pagefind.py in the working folder would be run in its place.
    command = [sys.executable, "-P", "-m", "pagefind", "--site", str(site), words, "--glob", searched, "--quiet"]
    finished = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if finished.returncode:
        raise ProbeEffectError(f"The search index of {site} could not be made:\n{finished.stdout}{finished.stderr}")
    for pattern in UNUSED:
        for path in (site / "pagefind").glob(pattern):
            path.unlink()
