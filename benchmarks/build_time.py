"""How long the site's build takes, as a ratio to Hugo alone on the same input in the same run.

Usage: make bench. Whole-process wall times: one build that draws every chart, then, with all that is kept, builds and
Hugo in turn; medians and the ratio pair by pair.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from probe_effect.exports.build import RECORD

PROJECT = Path(__file__).resolve().parent.parent
PROGRAM = Path(sys.executable).with_name("probe-effect")
HUGO = Path(sys.executable).with_name("hugo")
PAIRS = 5


def seconds(command: list[str]) -> float:
    """Wall time of one run of `command`, s."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=PROJECT)
    return time.perf_counter() - start


def main() -> None:
    """Print the medians and the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        build = [str(PROGRAM), "build", "--out", str(site)]
        shutil.rmtree(PROJECT / "build" / "kept", ignore_errors=True)
        first_s = seconds(build)
        configuration = site.with_name(f"{site.name}.work") / "hugo.json"
        hugo = [
            str(HUGO), "--source", "site", "--config", f"hugo.toml,{configuration}", "--noBuildLock",
            "--destination", str(Path(folder) / "hugo"),
        ]  # fmt: skip
        pairs = []
        for _ in range(PAIRS):
            (configuration.parent / RECORD).unlink()  # else there would be nothing to do
            pairs.append((seconds(build), seconds(hugo)))
        size_bytes = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    ratios = [whole / alone for whole, alone in pairs]
    print(f"first build, every chart drawn: {first_s:.1f} s")
    print(f"next builds: median {statistics.median(whole for whole, _ in pairs):.2f} s of {PAIRS}")
    print(f"Hugo alone:  median {statistics.median(alone for _, alone in pairs):.2f} s")
    print(f"ratio: median {statistics.median(ratios):.1f}, from {min(ratios):.1f} to {max(ratios):.1f}")
    print(f"site: {size_bytes / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
