"""The index that the site's search reads, made by Pagefind from the finished pages."""

import subprocess
import sys
from pathlib import Path

from probe_effect.errors import ProbeEffectError

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
    command = [sys.executable, "-m", "pagefind", "--site", str(site), words, "--glob", searched, "--quiet"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise ProbeEffectError(f"The search index of {site} could not be made:\n{finished.stdout}{finished.stderr}")
    for pattern in UNUSED:
        for path in (site / "pagefind").glob(pattern):
            path.unlink()
