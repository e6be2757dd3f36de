"""What the site publishes beside its pages: each suite's scripts and workload, and the header that workloads share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helpers.builders import write_counted_submission
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.assemble import _copy_data, _copy_scripts
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path


def test_a_workload_is_published_with_the_header_where_it_looks_for_it(data: Path, tmp_path: Path) -> None:
    _copy_scripts(read_catalogue(DataFolder(data)), tmp_path)
    for kind in ("assets", "static"):
        source = tmp_path / kind / "scripts" / "per-event" / "workload" / "dd-loop.c"
        assert '#include "../../loop.h"' in source.read_text(encoding="utf-8")
        assert (source.parent / "../../loop.h").read_bytes() == (data / "suites" / "loop.h").read_bytes()


def test_every_script_is_published_in_the_folder_of_its_suite(data: Path, tmp_path: Path) -> None:
    _copy_scripts(read_catalogue(DataFolder(data)), tmp_path)
    scripts = {path.name for path in (data / "suites" / "per-event").glob("*.bt")}
    assert scripts
    assert {path.name for path in (tmp_path / "static" / "scripts" / "per-event").glob("*.bt")} == scripts


def test_what_was_counted_is_published_with_what_was_timed(data: Path, tmp_path: Path) -> None:
    counted = write_counted_submission(data)
    catalogue, work = read_catalogue(DataFolder(data)), tmp_path / "work"
    _copy_data(catalogue, work)
    published = work / "static" / "data" / "results" / counted.parent.name / counted.name
    assert (published / "samples.csv").read_bytes() == (counted / "samples.csv").read_bytes()
    assert (published / "machine.json").is_file()
