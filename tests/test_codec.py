"""What is kept of a submission is the submission: nothing is lost, rounded or of another type when it is read again."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import counted_document, counted_rows, many_blocks, skipped_row
from number_builder import reduced
from probe_effect.model import Bucket, Estimate, Key
from probe_effect.reduce import reading
from probe_effect.reduce.reading import blocks_from, packed, unpacked
from probe_effect.reduce.rows import Block, BlockTable, Tail
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.kept import Kept
from probe_effect.store.places import DataFolder, SubmissionFolder

if TYPE_CHECKING:
    from collections.abc import Mapping

OF_SUBMISSION = {one.name for one in fields(Submission)} - {"files", "cases", "read_blocks", "digest"}
OF_NUMBER = {one.name for one in fields(Number)} - {"submission"}

FILES = SubmissionFolder(Path("m") / "2026-11-20-tiny")

finite = st.floats(allow_nan=False, allow_infinity=False)
whole = st.integers(0, 2**63)
words = st.tuples() | st.tuples(st.text()) | st.tuples(st.text(), st.text())
estimates = st.builds(Estimate, finite, st.none() | finite, st.none() | finite)
maybe = st.none() | estimates
keys = st.builds(Key, st.text(), st.text(), st.none() | st.text())
tails = st.builds(
    Tail,
    st.lists(maybe, max_size=4).map(tuple),
    st.lists(st.builds(Bucket, whole, whole, whole), max_size=3).map(tuple),
)


@st.composite
def submissions(draw: st.DrawFn) -> Submission:
    """Any values that the types allow, whether or not rows could ever say so."""
    made = Submission(
        files=FILES,
        machine=draw(st.text()),
        suite=draw(st.text()),
        metric=draw(st.sampled_from(["time", "instructions"])),
        started=draw(st.text()),
        rows=draw(whole),
        grade=draw(st.none() | st.sampled_from("ABCD")),
        grade_reasons=draw(words),
        noise_floor_ns=draw(st.none() | finite),
        baseline=draw(maybe),
        tails=draw(st.dictionaries(keys, tails, max_size=2)),
    )
    made.architecture = draw(st.text())
    made.numbers = tuple(draw(st.lists(numbers(made), max_size=3)))
    return made


def numbers(own: Submission) -> st.SearchStrategy[Number]:
    return st.builds(
        Number,
        submission=st.just(own),
        case=st.text(),
        tracer=st.text(),
        level=st.none() | st.text(),
        status=st.sampled_from(["ok", "failed", "timeout", "skipped"]),
        blocks=whole,
        cost=maybe,
        baseline=maybe,
        loss_ratio=st.none() | finite,
        reconciled=st.none() | st.booleans(),
        faults=words,
        note=st.none() | st.text(),
        grade=st.none() | st.sampled_from("ABCD"),
        grade_reasons=words,
        noise_floor_ns=st.none() | finite,
        fastest_ns=st.none() | finite,
        slowdown=maybe,
        attach=maybe,
        detach=maybe,
        cpu=maybe,
        tracer_cpu=maybe,
        memory=maybe,
        probes=st.none() | st.integers(0, 10**6),
        rate_hz=st.none() | finite,
        outlier_blocks=st.tuples() | st.tuples(whole, whole),
        mechanism=st.none() | st.text(),
    )


blocks = st.builds(
    Block,
    number=whole,
    untraced=st.lists(finite, max_size=4).map(tuple),
    traced=st.none() | finite,
    expected=st.none() | whole,
    seen=st.none() | whole,
    lost=st.none() | whole,
    lines=st.lists(whole, max_size=4).map(tuple),
    problem=st.none() | st.text(),
)
tables = st.builds(BlockTable, finite, st.lists(blocks, max_size=3).map(tuple))


def said(value: object, names: set[str]) -> dict[str, str]:
    """Each field as Python writes it, in which 1 and 1.0, and a list and a tuple, are not the same."""
    return {name: repr(getattr(value, name)) for name in names}


def is_same(one: Submission, other: Submission) -> bool:
    pairs = zip(one.numbers, other.numbers, strict=True)
    return (
        said(one, OF_SUBMISSION) == said(other, OF_SUBMISSION)
        and one.id == other.id
        and all(said(first, OF_NUMBER) == said(second, OF_NUMBER) for first, second in pairs)
        and all(number.submission is other for number in other.numbers)
        and one.architecture == other.architecture
        and one.sound == other.sound
    )


def through_json(one: Submission) -> Submission:
    text = json.dumps(packed(one), ensure_ascii=False).encode()
    return unpacked(one.files, json.loads(text))


@given(submissions())
def test_a_submission_comes_back_as_it_was(one: Submission) -> None:
    assert is_same(one, through_json(one))


@given(st.dictionaries(keys, tables, max_size=3))
def test_blocks_come_back_as_they_were(found: Mapping[Key, BlockTable]) -> None:
    again = blocks_from(json.dumps([*found.items()]).encode())
    assert list(again) == list(found)
    assert repr(again) == repr(found)


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(reduced([*many_blocks(), skipped_row(3)]), id="times"),
        pytest.param(reduced(many_blocks(level="2")), id="a level"),
        pytest.param(reduced(counted_rows(), counted_document()), id="counts"),
        pytest.param(reduced([]), id="no rows"),
    ],
)
def test_what_rows_say_comes_back_as_it_was(one: Submission) -> None:
    assert is_same(one, through_json(one))
    assert blocks_from(json.dumps([*one.blocks.items()]).encode()) == one.blocks


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.deep), 10])
def test_every_submission_of_the_data_is_read_once_and_then_is_what_it_was(
    real_data: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    data, submissions = DataFolder(real_data.root, Kept(tmp_path)), real_data.submissions()[::step]
    first = reading.read_submissions(submissions, data, [])
    of_first = [one.blocks for one in first]
    monkeypatch.setattr(reading, "read_samples", lambda *_: pytest.fail("the rows were read again"))
    for second in (
        reading.read_submissions(submissions, data, []),
        [one for files in submissions if (one := reading.read_submission(files, data, []))],
    ):
        assert len(first) == len(second) == len(submissions)
        assert [one.id for one, other in zip(first, second, strict=True) if not is_same(one, other)] == []
        assert [one.digest for one in first] == [one.digest for one in second]
        assert [one.document for one in first] == [one.document for one in second]
        assert [one.id for one, made in zip(second, of_first, strict=True) if one.blocks != made] == []
