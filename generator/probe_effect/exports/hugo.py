"""Hugo: the work folder and the checkout to a finished site, swapped in only when it is whole."""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from probe_effect.errors import HostNotReady, ProbeEffectError

UNUSED_KINDS = ("taxonomy", "term", "RSS")
"""Pages that Hugo makes for a blog; the feed of changes is the generator's."""


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

    @property
    def base_path(self) -> str:
        """The path under which the site lies, from `/` to `/`."""
        return f"{urlsplit(self.base_url).path.rstrip('/')}/"


RELATIVE = re.compile(r'((?:href|src|content)=)"\./')

AT_FDCWD, RENAME_EXCHANGE = -100, 2
"""Constants of include/uapi/linux/fcntl.h and fs.h."""

Mount = dict[str, str | list[str]]


def mounts(project: Path, work: Path, *, has_guide: bool = True) -> list[Mount]:
    """Hugo's mounts: hand-written and generated files side by side. `data/` is never mounted as Hugo data.

    Without the guide's chapters where they do not belong to the site: they quote numbers that other data may not have.
    """
    pairs = [
        (project / "content", "content"),
        (work / "content", "content"),
        (project / "site" / "adapters", "content"),
        (project / "METHOD.md", "content/method.md"),
        (project / "GLOSSARY.md", "content/glossary.md"),
        (project / "CONTRIBUTING.md", "content/submit.md"),
        (project / "site" / "layouts", "layouts"),
        (project / "site" / "assets", "assets"),
        (work / "assets", "assets"),
        (project / "site" / "static", "static"),
        (project / ".github" / "examples", "assets/scripts/examples"),
        (project / ".github" / "examples", "static/scripts/examples"),
        (work / "static", "static"),
    ]
    found: list[Mount] = [{"source": str(source.resolve()), "target": target} for source, target in pairs]
    if not has_guide:
        found[0]["files"] = ["! guide/**"]
    return found


def write_configuration(project: Path, work: Path, options: SiteOptions) -> Path:
    """The second configuration file, which adds to `site/hugo.toml` what changes from build to build."""
    params = {
        "repository": options.repository,
        "dataVersion": options.data_version,
        "isOwnData": options.has_guide,
        "address": options.address,
        "citedSite": options.base_url.rstrip("/"),
    }
    path = (work / "hugo.json").resolve()
    configuration = {
        "baseURL": "/",  # with a path in it, relative addresses of style sheets and scripts would name it twice
        "params": params,
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
    finished = subprocess.run(
        [*command, "--destination", str(destination.resolve()), "--noBuildLock", "--logLevel", "warn"],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    said = [line for line in (finished.stdout + finished.stderr).splitlines() if line.startswith(("ERROR", "WARN"))]
    if finished.returncode or said:
        words = "\n".join(said) or finished.stdout + finished.stderr
        raise ProbeEffectError(f"Hugo could not build the site from {work}:\n{words}")


def root_addresses(site: Path, base_path: str) -> None:
    """Let the addresses in `404.html`, which Hugo made relative, begin with `base_path`, such as `/project/`.

    A host shows that page at any depth.
    """
    page = site / "404.html"
    page.write_text(RELATIVE.sub(rf'\1"{base_path}', page.read_text(encoding="utf-8")), encoding="utf-8")


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
    done: int = exchange(AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second), RENAME_EXCHANGE)
    return done == 0
