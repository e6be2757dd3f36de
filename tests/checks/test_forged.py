"""Submissions that nobody measured: what tells them from honest ones, and what a maintainer can do about it."""

from __future__ import annotations

import json
from datetime import date
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pytest

from evidence.forged import FORGERIES, other_of_suite
from evidence.forgery import of_committed, signs_of, traces
from evidence.honest import committed, honest, order_of_seed
from helpers.builders import REAL_DATA, write_samples
from probe_effect.checks.copies import in_common, known_machines
from probe_effect.checks.run import check, check_all
from probe_effect.numbers.trends import noise_table, shared_noise
from probe_effect.store.beside_files import CHANGES_FILE
from probe_effect.store.documents import write_document
from probe_effect.store.kept import NOWHERE, Kept
from probe_effect.store.places import DataFolder
from probe_effect.store.suite_file import known_suites

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evidence.honest import Given
    from probe_effect.checks.copies import Traces
    from probe_effect.model import Problem
    from probe_effect.numbers.trends import NoiseTable
    from probe_effect.store.places import SubmissionFolder

MADE_OF = "amd-epyc-2t-kvm-81fc/2026-11-22-per-event-2"

NOT_SEEN = {
    "disguised, one case copied": set[str](),
    "disguised, the times of each case shuffled": {"same-operations"},
    "disguised, all noise and trials drawn again": set[str](),
}
"""What passes, or is only a warning, to the signs that there are all the same."""


@cache
def original() -> Given:
    return next(one for one in committed() if one.name == MADE_OF)


def forged(name: str, seed: int = 1) -> Given:
    return FORGERIES[name](original(), other_of_suite(original()), np.random.default_rng(seed))


@cache
def beside(suite: str) -> list[Traces]:
    return [traces(one) for one in committed() if one.document.run.suite == suite]


def found(given: Given) -> set[str]:
    return signs_of(given, beside(given.document.run.suite))


@pytest.mark.parametrize("name", [name for name in FORGERIES if name not in NOT_SEEN])
def test_a_changed_copy_of_a_published_submission_has_two_signs(name: str) -> None:
    assert len(found(forged(name))) > 1


@pytest.mark.parametrize("name", NOT_SEEN)
def test_what_is_not_refused_is_known(name: str) -> None:
    """/method/checks/ says so; who finds a sign for one of them takes it out of the list."""
    assert found(forged(name)) == NOT_SEEN[name]


@pytest.mark.parametrize(
    ("name", "sign"),
    [
        ("times jittered by 0.5 %, row by row", "same-noise"),
        ("times multiplied by a factor of each case's own", "same-tool-noise"),
        ("a hundred days later", "same-order"),
        ("rows of each block shuffled", "same-times"),
        ("one tracer's runs shorter by a tenth", "same-start"),
        ("disguised, the blocks in another order", "same-operations"),
    ],
)
def test_each_sign_is_found_where_it_is(name: str, sign: str) -> None:
    assert sign in found(forged(name))


@pytest.mark.deep
def test_no_two_committed_submissions_have_anything_in_common() -> None:
    pairs, common, _ = of_committed()
    assert pairs > 100
    assert not common


def test_an_honest_submission_has_no_sign() -> None:
    assert {visit.id: signs for visit in islice(honest(seed=5), 12) if (signs := found(visit.given()))} == {}


def test_the_runs_of_every_submission_since_the_second_day_stand_as_their_seed_gives() -> None:
    for given in (one for one in committed() if one.document.run.started >= "2026-11-21"):
        wanted = order_of_seed(given.document, given.rows, given.suite)
        assert wanted is not None, given.name
        for row in given.rows:
            assert wanted[row.block, row.position] == ((row.case, row.tracer, row.level), row.arm), given.name


# What `check` makes of it


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One committed submission, with its suite."""
    made = tmp_path / "data"
    copy(REAL_DATA / "suites", made / "suites")
    copy(REAL_DATA / "results" / MADE_OF, made / "results" / MADE_OF)
    return made


def copy(source: Path, target: Path) -> None:
    """All files below a folder."""
    for path in source.rglob("*"):
        if path.is_file():
            there = target / path.relative_to(source)
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(path.read_bytes())


def write(data: Path, given: Given) -> Path:
    """The submission on disk, under its own machine's name."""
    folder = data / "results" / given.document.machine.id / f"{given.document.run.started[:10]}-per-event"
    folder.mkdir(parents=True)
    write_document(folder / "machine.json", given.document)
    write_samples(folder / "samples.csv", given.rows)
    return folder


def rules(problems: list[Problem], severity: str) -> set[str]:
    return {problem.rule for problem in problems if problem.severity == severity}


def test_two_signs_are_an_error_and_each_is_a_warning_with_its_figure(data: Path) -> None:
    folder = write(data, forged("times jittered by 0.5 %, row by row"))
    problems = check([folder], DataFolder(data))
    assert rules(problems, "error") == {"two-signs"}
    noise = next(problem for problem in problems if problem.rule == "same-noise")
    assert MADE_OF in noise.message
    assert "correlation 0." in noise.message
    assert noise.severity == "warning"


def test_one_sign_is_a_warning(data: Path) -> None:
    given = forged("disguised, the times of each case shuffled")
    today = {"started": "2026-11-22T10:00:00Z", "ended": "2026-11-22T11:00:00Z"}
    run = given.document.run.model_copy(update=today)
    folder = write(data, type(given)(given.document.model_copy(update={"run": run}), given.rows))
    problems = check([folder], DataFolder(data))
    assert rules(problems, "error") == set()
    assert "same-operations" in rules(problems, "warning")


@pytest.mark.deep
def test_the_published_one_is_told_too_because_nobody_knows_which_was_measured(data: Path) -> None:
    write(data, forged("times jittered by 0.5 %, row by row"))
    told = {
        problem.file.partition("results/")[2].rpartition("/")[0]
        for problem in check_all(DataFolder(data))
        if problem.rule == "same-noise"
    }
    assert MADE_OF in told
    assert len(told) == 2


@pytest.mark.parametrize("days", [-1, 1])
def test_one_checked_alone_is_compared_with_those_that_began_before_and_after_it(data: Path, days: int) -> None:
    given = forged("times jittered by 0.5 %, row by row")
    run = given.document.run.model_copy(update={"started": f"{date(2026, 11, 22 + days)}T00:00:00Z", "ended": None})
    folder = write(data, type(given)(given.document.model_copy(update={"run": run}), given.rows))
    assert "same-noise" in rules(check([folder], DataFolder(data)), "warning")


SUITE = "per-event"


@pytest.fixture
def many(tmp_path: Path) -> DataFolder:
    """Five honest submissions of one suite, and a forged one among them, by time; nothing is known of them yet."""
    data = DataFolder(tmp_path / "many", Kept(tmp_path / "kept"))
    copy(REAL_DATA / "suites" / SUITE, data.root / "suites" / SUITE)
    for visit in islice((one for one in honest(seed=7) if one.like.document.run.suite == SUITE), 5):
        write(data.root, visit.given())
    write(data.root, forged("times jittered by 0.5 %, row by row"))
    copy(REAL_DATA / "results" / MADE_OF, data.root / "results" / MADE_OF)
    return data


def found_in(data: DataFolder, checked: Sequence[SubmissionFolder], kept: Kept) -> dict[str, list[tuple[str, str]]]:
    """What `checked` have in common with all, by their ids."""
    common = in_common(known_machines(data.submissions()), checked, known_suites(data), kept)
    return {files.id: common[files.folder] for files in checked if files.folder in common}


@pytest.mark.deep
def test_one_checked_alone_does_not_pass_for_all_having_been_laid_beside_each_other(many: DataFolder) -> None:
    everything = many.submissions()
    wanted = found_in(many, everything, NOWHERE)
    for one in everything:
        assert found_in(many, [one], many.kept) == {id_: common for id_, common in wanted.items() if id_ == one.id}
    assert found_in(many, everything, many.kept) == wanted


def test_a_maintainer_accepts_it_with_a_reason(data: Path) -> None:
    folder = write(data, forged("times jittered by 0.5 %, row by row"))
    name = f"{folder.parent.name}/{folder.name}"
    entry = {"date": "2026-11-23", "kind": "accepted", "what": [name, MADE_OF], "why": "Both are of one test."}
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in entry.items())
    (data / CHANGES_FILE).write_text(f"schema_version = 1\n\n[[changes]]\n{lines}\n", encoding="utf-8")
    problems = check_all(DataFolder(data))
    assert rules(problems, "error") == set()
    assert "same-noise" in rules(problems, "warning")


# The noise


def table(random: np.random.Generator, like: np.ndarray | None = None, share: float = 0.0) -> np.ndarray:
    own = random.normal(size=(12, 10))
    return own if like is None else share * like + (1 - share) * own


def shared(one: np.ndarray, other: np.ndarray) -> float:
    tables = [
        noise_table({row: dict(enumerate(map(float, of))) for row, of in enumerate(some)}, 10) for some in (one, other)
    ]
    (found,) = shared_noise(tables[0], tables[1:], 1.3)
    assert found is not None
    return found.chance * 100


def test_unrelated_noise_shares_nothing_and_a_copy_in_any_order_and_scale_everything() -> None:
    random = np.random.default_rng(3)
    one = table(random)
    assert shared(one, table(random)) > 0.01
    assert shared(one, 3 * one + 100) < 1e-9
    assert shared(one, table(random, one, 0.6)) < 1e-3
    assert shared(one, one[:, random.permutation(10)]) < 1e-3


def test_many_tables_at_once_give_what_each_gives_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where they have other rows and blocks, and where they are more than are laid beside each other at once."""
    random = np.random.default_rng(4)
    sizes = [(40, 12), (30, 20), (12, 5), (3, 12), (40, 3), (0, 0)]
    tables = [
        noise_table({row: dict(enumerate(map(float, of))) for row, of in enumerate(random.normal(size=size))}, size[1])
        for size in sizes
    ]
    for one in tables:
        alone = [found and pytest.approx(found, rel=1e-9) for other in tables for found in figures(one, [other])]
        assert figures(one, tables) == alone
        with monkeypatch.context() as patch:
            patch.setattr("probe_effect.numbers.trends.MOST_CELLS", 1000)
            assert figures(one, tables) == alone


def figures(one: NoiseTable, others: Sequence[NoiseTable]) -> list[tuple[float, ...] | None]:
    return list(shared_noise(one, others, 1.3))


def test_too_few_values_say_nothing() -> None:
    few = noise_table({"a": {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0}}, 4)
    nothing = noise_table({}, 4)
    assert shared_noise(few, [few, nothing], 1.3) == [None, None]
    assert shared_noise(nothing, [few, nothing], 1.3) == [None, None]


def test_a_run_that_claims_more_blocks_than_there_can_be_is_no_reason_to_make_room_for_them() -> None:
    run = original().document.run.model_copy(update={"blocks": 2**53})
    endless = type(original())(original().document.model_copy(update={"run": run}), original().rows)
    assert traces(endless).of_runs.rows == ()
    assert order_of_seed(endless.document, endless.rows, endless.suite) is not None
