"""What machines would send that nobody has lent yet: it passes `check`, says that it is made up, and has the times."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from benchmarks.the_day import MADE_UP, write_the_day

from builders import REAL_DATA
from probe_effect.checks.run import check_all
from probe_effect.errors import UsageError
from probe_effect.numbers.catalogue import Catalogue, read_catalogue
from probe_effect.numbers.home import reference_submission
from probe_effect.numbers.names import tier
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    """What they send, beside the suites that it is of."""
    folder = DataFolder(tmp_path_factory.mktemp("day") / "data")
    for part in ("suites", "schema", "references.toml"):
        source = REAL_DATA / part
        folder.root.mkdir(exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, folder.root / part)
    write_the_day(folder)
    return folder


@pytest.fixture(scope="module")
def catalogue(data: DataFolder) -> Catalogue:
    return read_catalogue(data)


def test_what_they_send_is_taken_without_an_error_or_a_warning(data: DataFolder) -> None:
    assert [str(problem) for problem in check_all(data) if problem.file.startswith("data/results")] == []


def test_each_of_their_submissions_says_that_it_is_made_up(catalogue: Catalogue) -> None:
    assert {one.document.submitter.name for one in catalogue.active} == {MADE_UP}


def test_nothing_made_up_goes_into_the_checkouts_own_data() -> None:
    with pytest.raises(UsageError, match="own data"):
        write_the_day(DataFolder(REAL_DATA))


def test_they_are_bare_metal_of_two_instruction_sets_and_a_guest(catalogue: Catalogue) -> None:
    machines = {(tier(one.document.machine), one.architecture) for one in catalogue.active}
    assert machines == {("physical", "x86_64"), ("physical", "aarch64"), ("virtual machine", "x86_64")}
    assert any(one.document.machine.smt and one.document.machine.turbo for one in catalogue.active)


@pytest.mark.parametrize("case", ["02-kprobe", "03-kretprobe", "19-fentry", "20-fexit", "23-multi-kprobe"])
def test_they_have_times_of_what_no_guest_of_ours_offers(catalogue: Catalogue, case: str) -> None:
    timed = [one for one in catalogue.numbers.of_case(case) if one.is_time and one.is_clear]
    assert {one.submission.architecture for one in timed} == {"x86_64", "aarch64"}


def test_bare_metal_becomes_the_machine_whose_numbers_pages_show(catalogue: Catalogue) -> None:
    shown = reference_submission(catalogue.numbers)
    assert shown is not None
    assert (tier(shown.document.machine), shown.grade) == ("physical", "A")
