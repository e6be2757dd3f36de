"""Submissions as JSON and back, for what is kept between runs. Its form may change with any version of the code."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from probe_effect.model import Bucket, Estimate, Key
from probe_effect.reduce.blocks import Block, BlockTable
from probe_effect.reduce.submission import Number, Submission
from probe_effect.reduce.tails import Tail
from probe_effect.store.places import SubmissionFolder

NUMBER_FIELDS = tuple(one.name for one in fields(Number) if one.name != "submission")
NOT_KEPT = frozenset({"files", "cases", "tails", "read_blocks", "digest", "titles"})
SUBMISSION_FIELDS = tuple(one.name for one in fields(Submission) if one.name not in NOT_KEPT)

ESTIMATES = frozenset({"cost", "baseline", "slowdown", "attach", "detach", "cpu", "memory", "tracer_cpu"})

LISTS = ESTIMATES | {"faults", "grade_reasons", "outlier_blocks"}
"""Fields of a number that JSON has as a list; there are a thousand times as many of others."""


class KeptCases(Mapping[str, tuple[Number, ...]]):
    """The numbers of a submission by case, made of the JSON of a case when that is first asked for."""

    def __init__(self, submission: Submission, texts: Mapping[str, str]) -> None:
        self._submission, self._texts = submission, texts
        self._made: dict[str, tuple[Number, ...]] = {}

    def __getitem__(self, case: str) -> tuple[Number, ...]:
        if case not in self._made:
            self._made[case] = tuple(_number(self._submission, one) for one in json.loads(self._texts[case]))
        return self._made[case]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def packed(submission: Submission) -> dict[str, Any]:
    """A submission without its blocks, for JSON; the numbers of each case are JSON in a string of their own."""
    made = {name: getattr(submission, name) for name in SUBMISSION_FIELDS}
    return made | {
        "architecture": submission.architecture,
        "sound": submission.sound,
        "cases": {case: _text(numbers) for case, numbers in submission.cases.items()},
        "tails": list(submission.tails.items()),
    }


def unpacked(files: SubmissionFolder, kept: Mapping[str, Any]) -> Submission:
    """A submission from what `packed` made of it, read from JSON."""
    values = {name: _value(name, kept[name]) for name in SUBMISSION_FIELDS}
    submission = Submission(files=files, **values)
    submission.architecture = kept["architecture"]
    submission.sound = kept["sound"]
    submission.cases = KeptCases(submission, kept["cases"])
    submission.tails = {Key(*key): _tail(*tail) for key, tail in kept["tails"]}
    return submission


def blocks_text(blocks: Mapping[Key, BlockTable]) -> str:
    """Block tables as JSON."""
    return json.dumps([[key, table] for key, table in blocks.items()], ensure_ascii=False)


def blocks_from(text: bytes) -> dict[Key, BlockTable]:
    """Block tables from what `blocks_text` made of them."""
    return {
        Key(*key): BlockTable(events, tuple(_block(block) for block in blocks))
        for key, (events, blocks) in json.loads(text)
    }


def _text(numbers: Iterable[Number]) -> str:
    values = [[getattr(one, name) for name in NUMBER_FIELDS] for one in numbers]
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def _block(values: list[Any]) -> Block:
    return Block._make(tuple(value) if isinstance(value, list) else value for value in values)


def _number(submission: Submission, values: list[Any]) -> Number:
    named: dict[str, Any] = {"level": None}
    named |= {name: value for name, value in zip(NUMBER_FIELDS, values, strict=True) if value is not None}
    for name in LISTS & named.keys():
        named[name] = _value(name, named[name])
    return Number(submission=submission, **named)


def _tail(percentiles: list[list[float | None] | None], buckets: list[list[int]]) -> Tail:
    known = tuple(None if one is None else Estimate._make(one) for one in percentiles)
    return Tail(known, tuple(Bucket._make(one) for one in buckets))


def _value(name: str, value: Any) -> Any:  # noqa: ANN401  JSON
    if value is None:
        return None
    if name in ESTIMATES:
        return Estimate(*value)
    return tuple(value) if isinstance(value, list) else value
