"""The formats that can be imported, by the name that the command takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.importers.go_bench import read_go_bench
from probe_effect.importers.hyperfine import read_hyperfine
from probe_effect.importers.kernel_bench import read_kernel_bench

if TYPE_CHECKING:
    from collections.abc import Mapping

    from probe_effect.importers.found import Importer

CSV = "csv"
"""The one that needs a mapping file."""

IMPORTERS: Mapping[str, Importer] = {
    "hyperfine": read_hyperfine,
    "go-bench": read_go_bench,
    "kernel-bench": read_kernel_bench,
}

FORMATS = (*IMPORTERS, CSV)
