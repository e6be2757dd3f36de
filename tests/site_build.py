"""The site as `probe-effect build` makes it, for tests that look at the result."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest

from probe_effect.exports.build import Places, build_site
from probe_effect.exports.hugo import SiteOptions
from probe_effect.store.places import DataFolder

PROJECT = Path(__file__).resolve().parent.parent


def absent(what: str) -> NoReturn:
    """Skip the test that needs `what`; where CI runs it has to be there."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


def build(data: Path, out: Path) -> Path:
    """The site of `data`, built into `out`."""
    for _ in build_site(Places(PROJECT, DataFolder(data), out), SiteOptions()):
        pass
    return out
