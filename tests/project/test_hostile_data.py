"""Whatever a stranger's data folder or revision holds: it is refused in plain words, or taken, and never takes long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers.hostile import (
    MOST_BYTES,
    MOST_SECONDS,
    REVISIONS,
    WORST,
    Attack,
    Outcome,
    Repository,
    Workshop,
    attacks,
    revised,
)

if TYPE_CHECKING:
    from pathlib import Path

ATTACKS = list(attacks())
FIRST = [pytest.param(one, id=one.name) for one in ATTACKS if one.name in WORST]
OTHERS = [pytest.param(one, id=one.name) for one in ATTACKS if one.name not in WORST]


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def repository(workshop: Workshop) -> Repository:
    return Repository(workshop)


def is_bounded(found: Outcome, usual: Outcome) -> bool:
    """Whether a command took no more than it may beyond what it takes of sound data."""
    return (
        found.memory_bytes - usual.memory_bytes <= MOST_BYTES and found.cpu_seconds - usual.cpu_seconds <= MOST_SECONDS
    )


def answers(workshop: Workshop, attack: Attack) -> None:
    found = workshop.check(attack)
    assert "Traceback" not in found.errors, found.errors
    assert is_bounded(found, workshop.usual), found
    if not attack.file:
        assert found.status == 0, found
        return
    assert found.status == 1, found
    told = [one for one in found.problems() if attack.file in one["file"]]
    assert told, found.problems()[:5]
    assert all(one["hint"] for one in found.problems())
    assert not attack.has_line or any(one["line"] for one in told), told


@pytest.mark.parametrize("attack", FIRST)
def test_a_hostile_folder_is_refused_with_its_file(workshop: Workshop, attack: Attack) -> None:
    answers(workshop, attack)


@pytest.mark.deep
@pytest.mark.parametrize("attack", OTHERS)
def test_every_hostile_folder_is_refused_or_taken(workshop: Workshop, attack: Attack) -> None:
    answers(workshop, attack)


@pytest.mark.deep
@pytest.mark.parametrize("name", REVISIONS)
def test_no_hostile_revision_is_ready_to_be_merged(repository: Repository, name: str) -> None:
    found = revised(repository, name)
    assert "Traceback" not in found.errors, found.errors
    assert is_bounded(found, repository.usual), found
    assert found.status in {0, 1}
    assert "Ready to merge" not in found.said
    assert found.said.startswith(("To look at", "1 ", "2 ")) or "error" in found.said + found.errors, found


def test_there_are_as_many_as_were_promised() -> None:
    assert len(ATTACKS) >= 150
    assert len({one.name for one in ATTACKS}) == len(ATTACKS)
    assert len(REVISIONS) >= 20
    assert len(FIRST) == len(WORST)


def test_what_is_sound_is_taken(workshop: Workshop, repository: Repository, tmp_path: Path) -> None:
    assert workshop.usual.status == 0, workshop.usual
    assert repository.usual.said.startswith("Nothing changes in the data"), repository.usual
    assert tmp_path.is_dir()
