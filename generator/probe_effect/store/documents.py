"""JSON and TOML documents checked against a pydantic model, with each problem's place in the file; and what their keys
mean, in a schema that cannot differ from what is checked.

pydantic names the faulty value by its path of keys; this module finds the line and column of that path.
"""

import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, create_model
from pydantic_core import ErrorDetails

from probe_effect.model import HostNotReady, Problem
from probe_effect.records import beside
from probe_effect.store.places import DataFolder
from probe_effect.store.tables import FORBIDDEN_TEXT, MAX_PROBLEMS_PER_FILE, plain_text, printable

DocumentKey = str | int

MAX_DOCUMENT_BYTES = 256 * 1024
"""Largest document that is read; a `machine.json` of the tool is about 4 KiB."""

MAX_DEPTH = 20

MAX_DOTS_IN_LINE = 200
"""In TOML. Each dot of a key nests a table, and their parsing takes the square of them."""

HINTS = {"extra_forbidden": "remove this key", "missing": "add this key; data/README.md says what it holds"}

M = TypeVar("M", bound=BaseModel)
E = TypeVar("E", bound="DocumentEntry")


def without(pattern: re.Pattern[str], complaint: str) -> AfterValidator:

    def checked(text: str) -> str:
        if pattern.search(text):
            raise ValueError(complaint)
        return text

    return AfterValidator(checked)


PLAIN = without(FORBIDDEN_TEXT, "holds a control or direction-changing character; use plain text on one line")

Text = Annotated[str, StringConstraints(min_length=1, max_length=2000), PLAIN]
"""One line or paragraph of plain text, never empty."""

SLUG = r"[a-z0-9]+(-[a-z0-9]+)*"

TAKEN = frozenset({"index", "content", "cite", "con", "prn", "aux", "nul"}) | {
    f"{port}{number}" for port in ("com", "lpt") for number in range(10)
}
"""Names that mean something else: to Hugo the page of a folder, in layouts a part of each page, to Windows a device."""


def no_name_of(taken: Collection[str], whose: str) -> AfterValidator:
    """A validator that refuses the names that something else has."""

    def checked(text: str) -> str:
        if text in taken:
            raise ValueError(f"`{text}` is a name {whose}; choose another id")
        return text

    return AfterValidator(checked)


Slug = Annotated[
    str, StringConstraints(pattern=f"^{SLUG}$", max_length=100), no_name_of(TAKEN, "that pages or file systems use")
]
"""An id that is also a folder's name and a part of an address: the one place that says what may be one."""


class Document(BaseModel):
    """Base of every document: unknown keys are faults, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class DocumentEntry(Document):
    """Base of what a file has many of, each with an id."""

    id: Slug


def _sorted_by_id(entries: tuple[E, ...]) -> tuple[E, ...]:
    for before, after in pairwise(entries):
        if before.id >= after.id:
            raise ValueError(f"`{after.id}` after `{before.id}`: sort by id, each once")
    return entries


def entries_file(
    entry: type[E], most: int
) -> tuple[type[Document], Callable[[DataFolder], tuple[tuple[E, ...], list[Problem]]]]:
    """The model of a file of many, `claims.toml` of each `Claim`, and what reads its entries with every problem."""
    kind, entries = entry.__name__.lower(), Annotated[tuple[entry, ...], AfterValidator(_sorted_by_id)]  # type: ignore[valid-type]
    keys: dict[str, Any] = {"schema_version": (Literal[1], ...), kind: (entries, Field(default=(), max_length=most))}
    model = create_model(f"{entry.__name__}sFile", __base__=Document, __doc__="The whole document.", **keys)

    def read(data: DataFolder) -> tuple[tuple[E, ...], list[Problem]]:
        path = data.root / f"{kind}s.toml"
        if not path.exists() and not path.is_symlink():
            return (), []
        document, problems = read_document(path, data.relative(path), path.stem, model)
        return getattr(document, kind, ()), problems

    return model, read


def write_document(path: Path, document: Document) -> None:
    """Write `document` as JSON: indented, keys in schema order, one LF at the end.

    Whole or not at all, and then on disk: a run may be killed at any moment, and what was there is still needed.
    Raises: HostNotReady when it cannot be written.
    """
    fresh = path.with_name(f".{path.name}")
    try:
        with fresh.open("w", encoding="utf-8") as file:
            file.write(document.model_dump_json(indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        raise HostNotReady(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            fresh.unlink()


def read_document(
    path: Path, file: str, rule: str, model: type[M], most_bytes: int = MAX_DOCUMENT_BYTES
) -> tuple[M | None, list[Problem]]:
    """The document at `path` as a `model`, or None with every problem found.

    The ending of its name, `.json` or `.toml`, says what it is. `file` is the name that problems give, and `rule` the
    first part of their rule ids.
    """
    text = plain_text(path, most_bytes, "let the tool write this file")
    if not isinstance(text, str):
        line, column, kind, message, hint = text
        return None, [Problem("error", file, line, column, f"{rule}/{kind}", message, hint)]
    try:
        return _sound(text, path.suffix, model), []
    except ValidationError as error:
        faults = error.errors()[:MAX_PROBLEMS_PER_FILE]
        return None, [_problem(file, rule, text, path.suffix, fault) for fault in faults]
    except (ValueError, RecursionError) as error:
        return None, [_syntax_problem(file, rule, error)]


@lru_cache(maxsize=1024)
def _sound(text: str, suffix: str, model: type[M]) -> M:
    """The document, which is frozen and made once of the same text.

    Raises: ValidationError where it does not fit the model; ValueError, RecursionError where its syntax is bad.
    """
    return model.model_validate(_frozen(_load_toml(text) if suffix == ".toml" else _load_json(text)))


def read_documents(
    paths: Iterable[Path], data: DataFolder, rule: str, model: type[M]
) -> tuple[dict[Path, M], list[Problem]]:
    """Each sound document by its path, and every problem found in all of them."""
    each = {path: read_document(path, data.relative(path), rule, model) for path in paths}
    sound = {path: document for path, (document, _) in each.items() if document is not None}
    return sound, [problem for _, problems in each.values() for problem in problems]


def _frozen(value: Any) -> Any:  # noqa: ANN401 (as the parsers give it)
    """`value` with tuples for lists: strict models take a tuple, and the parsers know lists only."""
    if isinstance(value, dict):
        return {key: _frozen(child) for key, child in value.items()}
    return tuple(_frozen(child) for child in value) if isinstance(value, list) else value


def _load_toml(text: str) -> dict[str, Any]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > MAX_DOTS_IN_LINE:
            raise ValueError(f"more than {MAX_DOTS_IN_LINE} dots (at line {number}, column 1)")
    return tomllib.loads(text)


def _load_json(text: str) -> Any:  # noqa: ANN401 (JSON is anything until the model has seen it)
    """JSON without repeated keys, NaN, infinities, or nesting that no document of ours has."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        for key, times in Counter(key for key, _ in pairs).items():
            if times > 1:
                raise ValueError(f"key `{printable(key)}` is there twice")
        return dict(pairs)

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    depth = 0  # of brackets outside strings, before the parser's recursion starts
    # A string without an end takes the rest of the text, so that each character is looked at once.
    for bracket in re.findall(r'"(?:\\.|[^"\\])*"?|[\[\]{}]', text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(bracket, 0)
        if depth > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH}")
    return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)


def _syntax_problem(file: str, rule: str, error: Exception) -> Problem:
    if isinstance(error, json.JSONDecodeError):
        return Problem("error", file, error.lineno, error.colno, f"{rule}/syntax", error.msg, "write valid JSON")
    message = str(error) or "nested too deep"
    # tomllib gives its place in the message's words only (Python 3.11 to 3.13).
    match = re.search(r"\(at line (\d+), column (\d+)\)", message)
    line, column = (int(match[1]), int(match[2])) if match else (None, None)
    return Problem("error", file, line, column, f"{rule}/syntax", printable(message, 200), "mend the file's syntax")


def _problem(file: str, rule: str, text: str, suffix: str, fault: ErrorDetails) -> Problem:
    path: tuple[DocumentKey, ...] = fault["loc"]
    line, column = _place(text, suffix, path)
    name = ".".join(str(key) for key in path) or "the document"
    message = f"{printable(name, 100)}: {fault['msg'].removeprefix('Value error, ')}"
    if isinstance(fault["input"], str | float) or (isinstance(fault["input"], int) and abs(fault["input"]) < 2**64):
        message += f", found `{printable(str(fault['input']))}`"
    hint = HINTS.get(fault["type"], "see data/README.md for what this key holds")
    return Problem("error", file, line, column, f"{rule}/{fault['type'].replace('_', '-')}", message, hint)


def value_line(path: Path, keys: Sequence[DocumentKey]) -> int | None:
    return _place(path.read_text(encoding="utf-8"), path.suffix, keys)[0]


def _place(text: str, suffix: str, keys: Sequence[DocumentKey]) -> tuple[int | None, int | None]:
    """Line and column where the value at `keys` begins; its parent's where a key is missing."""
    if len(text) > 4 * MAX_DOCUMENT_BYTES:
        return None, None
    places, path = (_toml_places if suffix == ".toml" else _json_places)(text), tuple(keys)
    offset = next(places[path[:length]] for length in range(len(path), -1, -1) if path[:length] in places)
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


JSON_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[\[\]{},:]|[^\s\[\]{},:"]+')


@lru_cache(maxsize=1)
def _json_places(text: str) -> dict[tuple[DocumentKey | None, ...], int]:
    """The offset of each value of sound JSON by its path, kept for the next problem of the same document."""
    places: dict[tuple[DocumentKey | None, ...], int] = {}
    path: list[DocumentKey | None] = []  # ends with a number in a list; with None where a key comes next
    for token in JSON_TOKEN.finditer(text):
        sign, last = token[0], path[-1] if path else ""
        if sign in {"]", "}"}:
            path.pop()
        elif sign == ",":
            path[-1] = last + 1 if isinstance(last, int) else None
        elif last is None:
            path[-1] = json.loads(sign)
        elif sign != ":":
            places[tuple(path)] = token.start()
            path += [0] if sign == "[" else [None] if sign == "{" else []
    return places


TOML_LINE = re.compile(
    r"^[^\S\n]*(?:(?P<bracket>\[\[?)[^\S\n]*(?P<table>[\w.-]+)[^\S\n]*\]|(?P<key>[\w-]+)[^\S\n]*=)", re.MULTILINE
)


@lru_cache(maxsize=1)
def _toml_places(text: str) -> dict[tuple[DocumentKey | None, ...], int]:
    """The offset of each key in lines of the forms `[table]`, `[[array of tables]]` and `key = value`."""
    table: tuple[DocumentKey, ...] = ()
    entries: Counter[str] = Counter()
    places: dict[tuple[DocumentKey | None, ...], int] = {(): 0}
    for line in TOML_LINE.finditer(text):
        if key := line["key"]:
            places.setdefault((*table, key), line.start("key"))
            continue
        table = tuple(line["table"].split("."))
        if line["bracket"] == "[[":
            table = (*table, entries[line["table"]])
            entries[line["table"]] += 1
        places[table] = line.start()
    return places


@cache
def form_rules() -> dict[str, str]:
    """What reading a file demands of it, by the last part of a problem's rule."""
    rules: dict[str, str] = beside(__file__, "form_rules")
    return rules


@cache
def keys_said() -> dict[str, dict[str, str]]:
    """What each key of a document says, by the name of the model that has it."""
    keys: dict[str, dict[str, str]] = beside(__file__, "keys")
    return keys


def document_keys(model: type[BaseModel], prefix: str = "") -> dict[str, str]:
    """Each key of a document by its path (`machine.cpu_model`), after `prefix`, to what it says."""
    keys: dict[str, str] = {}
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            keys |= document_keys(kind, f"{prefix}{name}.")
        elif meaning := keys_said().get(model.__name__, {}).get(name):
            keys[f"{prefix}{name}"] = meaning
    return keys


def document_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a document, in which each key has its description."""
    schema = model.model_json_schema()
    for name, part in {model.__name__: schema, **schema.get("$defs", {})}.items():
        for key, meaning in keys_said().get(name, {}).items():
            own = part["properties"][key] | {"description": meaning}
            part["properties"][key] = dict(sorted(own.items()))
    return schema
