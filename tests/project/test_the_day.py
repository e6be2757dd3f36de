"""What machines would send that nobody has lent yet, and whether our pages are ready for it.

A page may say that no machine of ours has something only in an `unknown` block, which goes when one has.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from helpers.builders import REAL_DATA
from helpers.site_build import PROJECT
from helpers.the_day import MADE_UP, write_the_day
from probe_effect.checks.run import check_all
from probe_effect.model import UsageError
from probe_effect.numbers.catalogue import Catalogue, read_catalogue
from probe_effect.numbers.names import tier
from probe_effect.site.facts import facts
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path


PAGES = sorted(path for path in (PROJECT / "content").rglob("*.md") if "findings" not in path.parts)
"""Hand-written pages, but findings, which are of their day."""

BLOCK = re.compile(r"{{< (known|unknown) (.*?) >}}(.*?){{< /\1 >}}", re.DOTALL)
NUMBER = re.compile(r'{{< number "([^"]+)"')

SAID_OF_OURS = (
    r"no (machine|kernel) of ours",
    r"none of our machines",
    r"nobody has timed",
    r"no machine (that|was) (was |we )?timed",
    r"we have no (measured )?times?\b",
    r"we (could|can) time (neither|none|no)",
    r"none of these has a measured time",
    r"(these|machines here|of them) are (all )?(nested |virtual)",
    r"machine is a virtual one",
    r"(six|seven|five|\d+) (nested )?(virtual|physical) machines",
    r"\bon the virtual machines here",
    r"this kernel, \d",
)
OF_DATA = re.compile("|".join(SAID_OF_OURS), re.IGNORECASE)
"""What data decide: whether any machine of ours has something, and what kind of machines they are."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_a_page_says_of_our_machines_only_what_data_decide(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    assert [found[0] for found in OF_DATA.finditer(text)] == []


@pytest.mark.parametrize(
    "said",
    [
        "No machine of ours offers kprobes or fentry, so none of these has a measured time here.",
        "All of these are virtual, so expect less on bare metal.",
        "The cost is that of a call, which this kernel, 6.18, can make.",
        "The stepped load costs more, and the machine is a virtual one.",
    ],
)
def test_sentences_that_were_true_of_our_machines_alone_are_found(said: str) -> None:
    assert OF_DATA.search(said)


@pytest.mark.deep
def test_what_a_page_says_once_it_was_measured_can_come_and_waits_for_each_of_its_numbers(catalogue: Catalogue) -> None:
    blocks = [found for page in PAGES for found in BLOCK.findall(page.read_text(encoding="utf-8"))]
    assert blocks
    known = facts(catalogue, {key for _, named, _ in blocks for key in re.findall(r'"([^"]+)"', named)}).keys()
    for kind, named, inside in blocks:
        keys = set(re.findall(r'"([^"]+)"', named))
        assert keys <= known
        assert kind == "unknown" or set(NUMBER.findall(inside)) <= keys


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


@pytest.mark.deep
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
