"""Which mechanisms of tracing work on a kernel: the program that tries them, its document, and the page."""

import json
import re
from pathlib import Path

import pytest

from probe_effect.checks.run import check_all
from probe_effect.guests import testbed
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.pages import architecture_page
from probe_effect.store.places import DataFolder
from probe_effect.store.transcripts import MECHANISMS, read_mechanisms

KERNEL = {
    "schema_version": 1,
    "kernel_release": "6.12.9-test",
    "architecture": "x86_64",
    "kernel": "linux-image-6.12.9-test 6.12.9-1 (trixie)",
    "emulator": "QEMU emulator version 10.0.13",
    "probe_effect": "0.1.0",
    "date": "2026-11-26",
    "trials": {
        "fentry": {"outcome": "works", "error": None, "says": None},
        "lsm": {"outcome": "attach", "error": "EINVAL", "says": "<b>{{< x >}}</b>"},
        "timer": {"outcome": "event", "error": None, "says": None},
    },
}


def data_with(tmp_path: Path, **changes: object) -> DataFolder:
    """A folder of data with one kernel."""
    (tmp_path / "mechanisms").mkdir()
    (tmp_path / "mechanisms" / "6.12.9-test.json").write_text(json.dumps(KERNEL | changes), encoding="utf-8")
    return DataFolder(tmp_path)


def test_the_program_tries_what_the_pages_name_and_nothing_else() -> None:
    tried = re.findall(r"TRIAL\((\w+)\)", testbed.TRIALS.read_text(encoding="utf-8").partition("trials[]")[2])
    assert sorted(name.replace("_", "-") for name in tried) == sorted(MECHANISMS)


def test_a_line_of_the_program_becomes_the_outcome_with_the_errors_name() -> None:
    name, trial = testbed.mechanism_trial("lsm\tattach\t524\tno such hook\n")
    assert (name, trial.outcome, trial.error, trial.says) == ("lsm", "attach", "ENOTSUPP", "no such hook")


def test_a_kernel_that_was_tried_is_read(tmp_path: Path) -> None:
    (found,), problems = read_mechanisms(data_with(tmp_path))
    assert (problems, found.trials["lsm"].error) == ([], "EINVAL")


@pytest.mark.parametrize(
    "trials",
    [{}, {"no-such-thing": KERNEL["trials"]["fentry"]}, {"lsm": {"outcome": "perhaps"}}],  # type: ignore[index]
)
def test_check_names_the_file_of_a_mechanism_that_is_unknown_or_has_no_known_outcome(
    tmp_path: Path, trials: object
) -> None:
    assert [one.file for one in check_all(data_with(tmp_path, trials=trials)) if "mechanisms" in one.file]


def test_the_page_says_what_works_and_what_was_refused_with_its_words_escaped(tmp_path: Path) -> None:
    text = architecture_page.write_mechanisms(read_catalogue(data_with(tmp_path)))
    assert text is not None
    assert "\n1 of 3 mechanisms work on Linux 6.12" in text
    assert "| fentry | works |" in text
    assert "| LSM hook with BPF | attach: EINVAL |" in text
    assert "| BPF timer | not seen |" in text
    assert "<b>" not in text
    assert "{{<" not in text


def test_without_a_kernel_that_was_tried_there_is_no_page(tmp_path: Path) -> None:
    assert architecture_page.write_mechanisms(read_catalogue(DataFolder(tmp_path))) is None
