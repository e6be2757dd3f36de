"""Submissions with their numbers, as they are under `data/`: made from their rows once, and kept as JSON."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter

from probe_effect.model import BadData, Estimate, Key, Problem, Sample
from probe_effect.numbers.reduce import reduce
from probe_effect.numbers.rows import BlockTable, Tail
from probe_effect.numbers.submission import InstructionsResult, Number, OwnUse, Submission, TimeResult
from probe_effect.store.kept import NOWHERE, Kept, code_version, library_version
from probe_effect.store.machine_file import MachineFile, read_machine_file
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.result_tables import read_calibration, read_histogram, read_paths, read_samples, with_histograms
from probe_effect.store.tables import MAX_FILE_BYTES, regular_size

BLOCKS = TypeAdapter(list[tuple[Key, BlockTable]], config=ConfigDict(ser_json_inf_nan="constants"))
TAILS = TypeAdapter(list[tuple[Key, Tail]])
RESULTS = {"time": TimeResult, "count": InstructionsResult, "own_use": OwnUse}

MADE_AGAIN = frozenset(
    {"files", "tails", "make_cases", "read_document", "read_blocks", "digest", "titles", "shares_end"}
)
SUBMISSION_FIELDS = tuple(one.name for one in fields(Submission) if one.name not in MADE_AGAIN)


class KeptCases(Mapping[str, tuple[Number, ...]]):
    """The numbers of a submission by case, made of the JSON of a case when that is first asked for."""

    def __init__(self, texts: Mapping[str, str], submission: Submission) -> None:
        self._texts, self._submission = texts, submission
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
        "cases": {case: _json(list(map(_packed_number, own))) for case, own in submission.cases.items()},
        "tails": TAILS.dump_python([*submission.tails.items()], mode="json"),
    }


def _packed_number(number: Number) -> dict[str, Any]:
    result = {name: _known(number.result) for name, kind in RESULTS.items() if isinstance(number.result, kind)}
    return number.key._asdict() | _known(number, {"submission", "key", "result"}) | result


def _known(one: Any, but: Collection[str] = ()) -> dict[str, Any]:  # noqa: ANN401  a dataclass
    """The fields that do not have their defaults."""
    values = {field: getattr(one, field.name) for field in fields(one) if field.name not in but}
    return {field.name: value for field, value in values.items() if value != field.default}


def unpacked(files: SubmissionFolder, values: Mapping[str, Any], digest: str = "", kept: Kept = NOWHERE) -> Submission:
    """A submission from what `packed` made of it, read from JSON; its blocks are in `kept`, by its files' digest."""
    named = _lists_as(tuple, {name: values[name] for name in SUBMISSION_FIELDS})
    return Submission(
        **named | {"baseline": named["baseline"] and Estimate._make(named["baseline"])},
        files=files,
        digest=digest,
        tails=dict(TAILS.validate_python(values["tails"])),
        make_cases=partial(KeptCases, values["cases"]),
        read_document=_read_document,
        read_blocks=partial(_read_blocks, files, kept, digest),
    )


def _number(submission: Submission, values: dict[str, Any]) -> Number:
    key = Key(*(values.pop(name) for name in Key._fields))
    kinds = RESULTS.keys() & values.keys()
    result = next((RESULTS[kind](**_lists_as(Estimate._make, values.pop(kind))) for kind in kinds), None)
    return Number(submission=submission, key=key, result=result, **_lists_as(tuple, values))


def _lists_as(kind: Callable[[list[Any]], Any], values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: kind(value) if isinstance(value, list) else value for name, value in values.items()}


def read_submissions(
    folders: Sequence[SubmissionFolder], data: DataFolder, problems: list[Problem]
) -> list[Submission]:
    """Those of `folders` that are sound, in that order; what is wrong with the others is added to `problems`."""
    read = (read_submission(files, data, problems) for files in folders)
    return [submission for submission in read if submission is not None]


def read_submission(files: SubmissionFolder, data: DataFolder, problems: list[Problem]) -> Submission | None:
    """One submission; None, with its problems added to `problems`, when its files are unsound."""
    digest = content_digest(files)
    if digest and (text := data.kept.get("submission", code(), files.id, digest)):
        return unpacked(files, json.loads(text), digest, data.kept)
    read = _read(files, data.relative, problems)
    return None if read is None else keep(reduce(files, *read), data.kept, digest)


def is_kept(files: SubmissionFolder, kept: Kept) -> bool:
    """Whether the numbers of a submission are kept."""
    digest = content_digest(files)
    return digest is not None and kept.get("submission", code(), files.id, digest) is not None


def keep(submission: Submission, kept: Kept, digest: str | None) -> Submission:
    """Keep a submission that was made from the files with that digest, unless they have changed since they had it.

    Returns: the submission with that digest, and without its blocks where these are kept too.
    """
    if digest is None or content_digest(submission.files) != digest:
        return submission
    if kept.folder is None:
        return replace(submission, digest=digest)
    kept.put(_json(packed(submission)).encode(), "submission", code(), submission.id, digest)
    kept.put(BLOCKS.dump_json([*submission.blocks.items()]), "blocks", code(), submission.id, digest)
    return replace(submission, digest=digest, read_blocks=partial(_read_blocks, submission.files, kept, digest))


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
    ours = code_version("model", "units", "records", "tools", "conditions", "store", "numbers")
    return f"{ours} numpy {library_version('numpy')}"


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


def _read_document(files: SubmissionFolder) -> MachineFile:
    document, problems = read_machine_file(files.machine_file, files.id)
    if document is None:
        raise BadData(problems)
    return document


def _read_blocks(files: SubmissionFolder, kept: Kept, digest: str) -> Mapping[Key, BlockTable]:
    """The blocks of a submission whose files were sound when they had that digest. Raises: BadData where they are not.

    Blocks of files that have changed since are not kept.
    """
    if text := kept.get("blocks", code(), files.id, digest):
        return dict(BLOCKS.validate_json(text))
    problems: list[Problem] = []
    read = _read(files, lambda _: files.id, problems)
    if read is None:
        raise BadData(problems)
    made = reduce(files, *read)
    keep(made, kept, digest)
    return made.blocks


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
