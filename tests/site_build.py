"""The site as `probe-effect build` makes it, for tests that look at the result."""

from __future__ import annotations

from pathlib import Path

from probe_effect.exports.build import Places, build_site
from probe_effect.exports.hugo import SiteOptions
from probe_effect.store.places import DataFolder

PROJECT = Path(__file__).resolve().parent.parent


def build(data: Path, out: Path) -> Path:
    """The site of `data`, built into `out`."""
    for _ in build_site(Places(PROJECT, DataFolder(data), out), SiteOptions()):
        pass
    return out
