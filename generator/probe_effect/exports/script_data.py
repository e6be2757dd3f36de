"""Every file that the scripts of pages load, in the order of their pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.compare.subjects import subjects
from probe_effect.exports.compare_shards import INDEX, compare_files
from probe_effect.exports.explore import FORM, explore_files
from probe_effect.exports.guidance import CALCULATOR, guidance_files
from probe_effect.exports.script_values import machine_values, script_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.numbers.catalogue import Catalogue

LIST = "machines.json"
"""All machines, which a page loads when its reader asks for one that the form does not offer from the start."""

OF_LAYOUTS = frozenset({CALCULATOR, FORM, INDEX})
"""What layouts read, and publish beside the others."""


def script_data(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """File name below `/data/` and its text."""
    machines = subjects(catalogue)
    yield LIST, script_json([machine_values(one) for one in machines])
    yield from guidance_files(catalogue)
    yield from explore_files(catalogue, machines)
    yield from compare_files(catalogue, machines)
