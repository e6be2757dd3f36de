"""Results of a run under sudo go to whoever called it, and nothing else does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fakes.project import as_root
from probe_effect.measure.submission import hand_to_sudo_user

if TYPE_CHECKING:
    from collections.abc import Callable

SUDO = {"SUDO_UID": "1000", "SUDO_GID": "1001"}
Given = dict[str, tuple[int, int]]


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "own" / "results" / "machine" / "run"
    folder.mkdir(parents=True)
    (folder / "samples.csv").touch()
    return folder


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Given:
    """What is handed over, by its path below the test's folder; we are root, and only `home` is the user's."""
    found: Given = {}
    real: Callable[..., os.stat_result] = Path.stat

    def chown(path: Path, user: int, group: int, *, follow_symlinks: bool) -> None:
        assert not follow_symlinks
        found[str(path.relative_to(tmp_path))] = (user, group)

    def stat(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        values = list(real(path, follow_symlinks=follow_symlinks))
        values[4] = 1000 if path == tmp_path / "home" else 0
        return os.stat_result(values)

    monkeypatch.setattr(os, "chown", chown)
    as_root(monkeypatch)
    monkeypatch.setattr(Path, "stat", stat)
    return found


def handed(submission: Path, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", variables)
    hand_to_sudo_user(submission)


def test_the_folder_its_files_and_what_was_made_on_the_way_are_handed_over(
    submission: Path, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed(submission, SUDO, monkeypatch)
    names = ["home/own", "home/own/results", "home/own/results/machine", "home/own/results/machine/run"]
    assert given == dict.fromkeys([*names, "home/own/results/machine/run/samples.csv"], (1000, 1001))


def test_where_a_third_user_could_exchange_it_nothing_is_handed_over(
    submission: Path, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed(submission, {"SUDO_UID": "77", "SUDO_GID": "77"}, monkeypatch)
    assert given == {}


def test_another_name_of_a_file_elsewhere_is_not_handed_over(
    submission: Path, given: Given, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shadow").touch()
    (submission / "notes").hardlink_to(tmp_path / "shadow")
    handed(submission, SUDO, monkeypatch)
    assert "home/own/results/machine/run/notes" not in given


@pytest.mark.parametrize("variables", [{}, {"SUDO_UID": "1000"}, SUDO | {"SUDO_GID": "x"}])
def test_without_sudo_nothing_changes_hands(
    submission: Path, given: Given, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    handed(submission, variables, monkeypatch)
    assert given == {}


def test_who_is_not_root_hands_nothing_over(submission: Path, given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    handed(submission, SUDO, monkeypatch)
    assert given == {}
