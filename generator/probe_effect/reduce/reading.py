"""Submissions with their numbers, as they lie under `data/`: made from their rows once, and kept as JSON."""

import gc
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from probe_effect.errors import BadData
from probe_effect.model import Bucket, Estimate, Key, Problem, Sample
from probe_effect.reduce.reduce import reduce
from probe_effect.reduce.rows import Block, BlockTable, Tail
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.further_tables import read_calibration, read_histogram, read_paths, with_histograms
from probe_effect.store.kept import Kept, code_version, library_version
from probe_effect.store.machine_file import MachineFile, read_machine_file
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.samples import read_samples
from probe_effect.store.tables import MAX_FILE_BYTES, regular_size

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
        "cases": {
            case: _json([[getattr(one, name) for name in NUMBER_FIELDS] for one in numbers])
            for case, numbers in submission.cases.items()
        },
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


def blocks_from(text: bytes) -> dict[Key, BlockTable]:
    """Block tables from JSON of their keys and values."""
    return {
        Key(*key): BlockTable(events, tuple(_block(block) for block in blocks))
        for key, (events, blocks) in json.loads(text)
    }


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


def read_submissions(
    folders: Sequence[SubmissionFolder], data: DataFolder, problems: list[Problem]
) -> list[Submission]:
    """Those of `folders` that are sound, in that order; what is wrong with the others is added to `problems`.

    All of them together are kept as one entry, so that a command does not open one for each.
    """
    known = [(files, content_digest(files)) for files in folders]
    whole = [code(), *(f"{files.id} {digest}" for files, digest in known)]
    if text := data.kept.get("submissions", *whole):
        with _uncollected():
            values = json.loads(text)
            return [
                _kept(files, data.kept, digest or "", one) for (files, digest), one in zip(known, values, strict=True)
            ]
    read = [read_submission(files, data, problems, digest) for files, digest in known]
    sound = [one for one in read if one is not None]
    if len(sound) == len(folders):
        data.kept.put(_json([packed(one) for one in sound]).encode(), "submissions", *whole)
    return sound


@contextmanager
def _uncollected() -> Iterator[None]:
    """While many objects are made that stay, Python does not look again and again for some that do not."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def read_submission(
    files: SubmissionFolder, data: DataFolder, problems: list[Problem], digest: str | None = None
) -> Submission | None:
    """One submission; None, with its problems added to `problems`, when its files are unsound.

    `digest`: of its files, where that is known already.
    """
    digest = digest or content_digest(files)
    if digest and (text := data.kept.get("submission", code(), files.id, digest)):
        return _kept(files, data.kept, digest, json.loads(text))
    read = _read(files, data.relative, problems)
    if read is None:
        return None
    made = reduce(files, *read)
    keep(made, data.kept, digest)
    return made


def is_kept(files: SubmissionFolder, kept: Kept) -> bool:
    """Whether the numbers of a submission are kept."""
    digest = content_digest(files)
    return digest is not None and kept.get("submission", code(), files.id, digest) is not None


def keep(submission: Submission, kept: Kept, digest: str | None) -> None:
    """Keep a submission that was made from the files with that digest, and let go of its blocks, which are kept too.

    One whose files have changed since they had it is not kept: nobody knows which of both it was made from.
    """
    if digest is None or content_digest(submission.files) != digest:
        return
    submission.digest = digest
    if kept.folder is None:
        return
    kept.put(_json(packed(submission)).encode(), "submission", code(), submission.id, digest)
    kept.put(_json([*submission.blocks.items()]).encode(), "blocks", code(), submission.id, digest)
    submission.read_blocks = partial(_read_blocks, submission.files, kept, digest)


def content_digest(files: SubmissionFolder) -> str | None:
    """A digest of what a submission's numbers are made from; None where its files cannot be read."""
    digest = hashlib.sha256()
    try:
        for path in files.content:
            if regular_size(path) > MAX_FILE_BYTES:
                return None
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    except OSError:
        return None
    return digest.hexdigest()


def code() -> str:
    """What decides, beside the files, what the numbers are."""
    ours = code_version("model", "units", "errors", "stats", "store", "tools", "toml", "reduce")
    return f"{ours} numpy {library_version('numpy')}"


def _kept(files: SubmissionFolder, kept: Kept, digest: str, values: Mapping[str, Any]) -> Submission:
    found = unpacked(files, values)
    found.digest = digest
    found.read_blocks = partial(_read_blocks, files, kept, digest)
    return found


def _read(
    files: SubmissionFolder, shown: Callable[[Path], str], problems: list[Problem]
) -> tuple[MachineFile, list[Sample]] | None:
    document, faults = read_machine_file(files.machine_file, shown(files.machine_file))
    samples, more = read_samples(files.samples, shown(files.samples))
    times, further = read_histogram(files.histogram, shown(files.histogram))
    further += read_calibration(files.calibration, shown(files.calibration))[1]
    further += read_paths(files.paths, shown(files.paths))[1]
    problems += [*faults, *more, *further]
    return None if document is None or more or further else (document, with_histograms(samples, times))


def _read_blocks(files: SubmissionFolder, kept: Kept, digest: str) -> Mapping[Key, BlockTable]:
    """The blocks of a submission whose files were sound when they had that digest. Raises: BadData where they are not.

    Files that have changed since are not taken for those that they were.
    """
    if text := kept.get("blocks", code(), files.id, digest):
        return blocks_from(text)
    problems: list[Problem] = []
    read = _read(files, lambda _: files.id, problems)
    if read is None:
        raise BadData(problems)
    made = reduce(files, *read)
    blocks = made.blocks
    keep(made, kept, digest)
    return blocks


def _json(found: Iterable[object]) -> str:
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))
