"""The page for addresses that are none: a host shows it at any depth, so its links begin at the site's root."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

RELATIVE = re.compile(r'((?:href|src|content)=)"\./')


def root_addresses(site: Path, base_path: str) -> None:
    """Let the addresses in `404.html`, which Hugo made relative, begin with `base_path`, such as `/project/`."""
    page = site / "404.html"
    page.write_text(RELATIVE.sub(rf'\1"{base_path}', page.read_text(encoding="utf-8")), encoding="utf-8")
