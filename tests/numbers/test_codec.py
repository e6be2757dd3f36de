"""What is kept of a submission is the submission: nothing is lost, rounded or of another type when it is read again."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.builders import counted_document, counted_rows, machine_document, many_blocks, skipped_row
from helpers.number_builder import reduced
from probe_effect.model import Bucket, Estimate, Key
from probe_effect.numbers import catalogue
from probe_effect.numbers.catalogue import BLOCKS, MADE_AGAIN, packed, unpacked
from probe_effect.numbers.rows import Block, BlockTable, Tail
from probe_effect.numbers.submission import InstructionsResult, Number, OwnUse, Submission, TimeResult
from probe_effect.store.kept import Kept
from probe_effect.store.places import DataFolder, SubmissionFolder

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

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


grades = st.none() | st.sampled_from("ABCD")
shares = st.none() | finite
of_event = {
    "cost": maybe,
    "baseline": maybe,
    "loss_ratio": shares,
    "reconciled": st.none() | st.booleans(),
    "attach": maybe,
    "detach": maybe,
    "probes": st.none() | st.integers(0, 10**6),
}
times = st.builds(
    TimeResult,
    noise_floor_ns=shares,
    fastest_ns=shares,
    slowdown=maybe,
    cpu=maybe,
    memory=maybe,
    rate_hz=shares,
    event_bytes=shares,
    **of_event,
)
counts = st.builds(InstructionsResult, mechanism=st.none() | st.text(), **of_event)
uses = st.builds(OwnUse, cpu=maybe, memory=maybe, calls=shares)


@st.composite
def submissions(draw: st.DrawFn) -> Submission:
    """Any values that the types allow, whether or not rows could ever say so."""
    values = draw(st.dictionaries(st.text(), st.lists(numbers, max_size=3), max_size=2))
    return Submission(
        files=FILES,
        machine=draw(st.text()),
        suite=draw(st.text()),
        metric=draw(st.sampled_from(["time", "instructions"])),
        started=draw(st.text()),
        rows=draw(whole),
        architecture=draw(st.text()),
        microarchitecture=draw(st.none() | st.text()),
        grade=draw(grades),
        grade_reasons=draw(words),
        noise_floor_ns=draw(shares),
        baseline=draw(maybe),
        sound=draw(st.dictionaries(st.text(), st.lists(st.text(), max_size=2), max_size=2)),
        tails=draw(st.dictionaries(keys, tails, max_size=2)),
        make_cases=lambda own: {case: [Number(submission=own, **one) for one in made] for case, made in values.items()},
        read_document=lambda _: machine_document(),
        read_blocks=dict,
    )


numbers: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict,
    key=keys,
    status=st.sampled_from(["ok", "failed", "timeout", "skipped"]),
    blocks=whole,
    result=st.none() | times | counts | uses,
    outlier_blocks=st.tuples() | st.tuples(whole, whole),
    faults=words,
    note=st.none() | st.text(),
    grade=grades,
    grade_reasons=words,
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


def said(one: Submission | Number, but: Collection[str] = ()) -> dict[str, str]:
    """Each field as Python writes it, in which 1 and 1.0, and a list and a tuple, are not the same."""
    return {field.name: repr(getattr(one, field.name)) for field in fields(one) if field.name not in but}


def is_same(one: Submission, other: Submission) -> bool:
    pairs = list(zip(one.numbers, other.numbers, strict=True))
    return (
        said(one, {*MADE_AGAIN} - {"tails"}) == said(other, {*MADE_AGAIN} - {"tails"})
        and list(one.cases) == list(other.cases)
        and all(said(first, {"submission"}) == said(second, {"submission"}) for first, second in pairs)
        and all(number.submission is other for number in other.numbers)
    )


def through_json(one: Submission) -> Submission:
    text = json.dumps(packed(one), ensure_ascii=False).encode()
    return unpacked(one.files, json.loads(text))


@given(submissions())
def test_a_submission_comes_back_as_it_was(one: Submission) -> None:
    assert is_same(one, through_json(one))


@given(st.dictionaries(keys, tables, max_size=3))
def test_blocks_come_back_as_they_were(found: Mapping[Key, BlockTable]) -> None:
    again = BLOCKS.validate_json(BLOCKS.dump_json([*found.items()]))
    assert repr(again) == repr([*found.items()])


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
    assert dict(BLOCKS.validate_json(BLOCKS.dump_json([*one.blocks.items()]))) == one.blocks


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.deep), 10])
def test_every_submission_of_the_data_is_read_once_and_then_is_what_it_was(
    real_data: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    data, submissions = DataFolder(real_data.root, Kept(tmp_path)), real_data.submissions()[::step]
    first = catalogue.read_submissions(submissions, data, [])
    of_first = [one.blocks for one in first]
    monkeypatch.setattr(catalogue, "read_samples", lambda *_: pytest.fail("the rows were read again"))
    for second in (
        catalogue.read_submissions(submissions, data, []),
        [one for files in submissions if (one := catalogue.read_submission(files, data, []))],
    ):
        assert len(first) == len(second) == len(submissions)
        assert [one.id for one, other in zip(first, second, strict=True) if not is_same(one, other)] == []
        assert [one.digest for one in first] == [one.digest for one in second]
        assert [one.document for one in first] == [one.document for one in second]
        assert [one.id for one, made in zip(second, of_first, strict=True) if one.blocks != made] == []
