"""JSON and TOML documents: every fault with its line and column, and nothing that raises."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.builders import changed, machine_document, machine_values, source_toml
from probe_effect.store import documents
from probe_effect.store.beside_files import read_source
from probe_effect.store.documents import write_document
from probe_effect.store.machine_file import MachineFile, read_machine_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from probe_effect.model import Problem
    from probe_effect.store.beside_files import SourceFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "machine.json"


@pytest.fixture
def toml(tmp_path: Path) -> Path:
    return tmp_path / "source.toml"


def read_json(path: Path, content: str | bytes) -> tuple[MachineFile | None, list[Problem]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_machine_file(path, "machine.json")


def read_toml(path: Path, content: str | bytes) -> tuple[SourceFile | None, list[Problem]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_source(path, "source.toml")


def text(values: dict[str, Any] | None = None) -> str:
    return json.dumps(machine_values() if values is None else values, indent=2)


def place_of(content: str, words: str) -> tuple[int, int]:
    """Line and column, from 1, where `words` first stand in `content`."""
    before = content[: content.index(words)]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def test_a_sound_machine_file_is_read(path: Path) -> None:
    document, problems = read_json(path, text())
    assert problems == []
    assert document == machine_document()


def test_what_is_written_is_read_back_equal(path: Path) -> None:
    document = machine_document(machine__virtualization="kvm", run__load_before=None, system__boot_flags=[])
    write_document(path, document)
    assert read_machine_file(path, "machine.json") == (document, [])
    assert path.read_bytes().endswith(b"}\n")


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        pytest.param("machine.threads", '"8"', "int-type", id="text for a number"),
        pytest.param("machine.threads", "8.5", "int-type", id="decimal for a count"),
        pytest.param("machine.threads", "true", "int-type", id="truth for a count"),
        pytest.param("machine.threads", "-1", "greater-than-equal", id="negative count"),
        pytest.param("machine.threads", "9007199254740993", "less-than-equal", id="count beyond 2^53"),
        pytest.param("machine.threads", "null", "int-type", id="null where a value is needed"),
        pytest.param("machine.smt", "1", "bool-type", id="number for truth"),
        pytest.param("machine.id", '"Not A Slug"', "string-pattern-mismatch", id="id that is none"),
        pytest.param("machine.id", '"../up"', "string-pattern-mismatch", id="id that leads elsewhere"),
        pytest.param("machine.id", '"a\\n"', "string-pattern-mismatch", id="id with a newline"),
        pytest.param("machine.cpu_model", '""', "string-too-short", id="empty text"),
        pytest.param("machine.cpu_model", '"a\\u202eb"', "value-error", id="direction override"),
        pytest.param("machine.cpu_model", '"a\\u0000b"', "value-error", id="escaped NUL"),
        pytest.param("machine.cpu_model", '"a\\nb"', "value-error", id="two lines"),
        pytest.param("machine.cpu_model", json.dumps("x" * 2001), "string-too-long", id="long text"),
        pytest.param("system.clock_read_ns", "1e999", "less-than-equal", id="infinite"),
        pytest.param("system.boot_flags", '"one"', "tuple-type", id="text for a list"),
        pytest.param("tools", "[]", "dict-type", id="list for an object"),
        pytest.param("run.started", '"yesterday"', "string-pattern-mismatch", id="no time"),
        pytest.param("run.metric", '"miles"', "literal-error", id="unknown metric"),
        pytest.param("schema_version", "2", "literal-error", id="another schema"),
        pytest.param("submitter.url", '"javascript:alert(1)"', "string-pattern-mismatch", id="script for an address"),
        pytest.param("submitter.url", '"https://e.org/\\"x"', "string-pattern-mismatch", id="quote in an address"),
    ],
)
def test_a_wrong_value_is_named_with_its_key_line_and_column(path: Path, key: str, value: str, rule: str) -> None:
    content = text(changed(machine_values(), key, "HERE")).replace('"HERE"', value)
    document, (problem,) = read_json(path, content)
    last = key.rsplit(".", maxsplit=1)[-1]
    line, column = place_of(content, f'"{last}": {value}')
    assert document is None
    assert problem.message.startswith(f"{key}: ")
    assert (problem.rule, problem.line) == (f"machine/{rule}", line)
    assert problem.column == column + len(f'"{last}": ')
    assert problem.hint


def test_a_missing_key_is_named_at_the_object_that_lacks_it(path: Path) -> None:
    values = machine_values()
    del values["run"]["seed"]
    content = text(values)
    _, (problem,) = read_json(path, content)
    line, column = place_of(content, '"run": {')
    assert problem.message.startswith("run.seed: ")
    assert (problem.rule, problem.line, problem.column) == ("machine/missing", line, column + len('"run": '))


def test_an_unknown_key_is_a_fault_that_says_so(path: Path) -> None:
    content = text(changed(machine_values(), "machine.hostname", "secret-host"))
    _, (problem,) = read_json(path, content)
    assert problem.rule == "machine/extra-forbidden"
    assert problem.line == place_of(content, '"hostname"')[0]
    assert problem.hint == "remove this key"


def test_a_fault_in_a_list_is_placed_at_its_member(path: Path) -> None:
    content = text(changed(machine_values(), "run.command", ["probe-effect", 7, "x"]))
    _, (problem,) = read_json(path, content)
    assert problem.message.startswith("run.command.1: ")
    assert (problem.line, problem.column) == place_of(content, '7,\n      "x"')


def test_every_fault_of_a_document_is_told_at_once(path: Path) -> None:
    values = changed(changed(machine_values(), "machine.threads", "8"), "run.seed", -1)
    _, problems = read_json(path, text(values))
    assert [problem.message.split(":")[0] for problem in problems] == ["machine.threads", "run.seed"]


def test_places_are_right_in_a_file_indented_with_tabs(path: Path) -> None:
    content = json.dumps(changed(machine_values(), "run.seed", -1), indent="\t")
    _, (problem,) = read_json(path, content)
    line, column = place_of(content, '"seed": -1')
    assert (problem.line, problem.column) == (line, column + len('"seed": '))


@pytest.mark.parametrize(
    ("content", "place"),
    [
        pytest.param('{\n  "a": 1,\n}', (3, 1), id="comma before the end"),
        pytest.param("{\n  'a': 1\n}", (2, 3), id="single quotes"),
        pytest.param('{"a": 1\n "b": 2}', (2, 2), id="comma missing"),
        pytest.param('{"a": "\x00"}', (1, 8), id="NUL"),
        pytest.param("", (1, 1), id="empty"),
        pytest.param("{} {}", (1, 4), id="two documents"),
        pytest.param('{\n "a": "open', (2, 7), id="open text"),
    ],
)
def test_broken_json_is_placed(path: Path, content: str, place: tuple[int, int]) -> None:
    _, (problem,) = read_json(path, content)
    assert (problem.rule, problem.line, problem.column) == ("machine/syntax", *place)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param('{"a": 1, "a": 2}', "key `a` is there twice", id="repeated key"),
        pytest.param('{"a": {"b": 1, "b": 1}}', "key `b` is there twice", id="repeated key inside"),
        pytest.param('{"\\u202ea": 1, "\\u202ea": 2}', "\\u202ea", id="repeated hostile key"),
        pytest.param('{"a": NaN}', "NaN is not JSON", id="NaN"),
        pytest.param('{"a": -Infinity}', "-Infinity is not JSON", id="infinity"),
        pytest.param("[" * 21 + "]" * 21, "nested deeper", id="nesting"),
        pytest.param("[" * 100_000, "nested deeper", id="nesting without end"),
        pytest.param('{"a":' * 21 + "1" + "}" * 21, "nested deeper", id="nested objects"),
        pytest.param('{"a": ' + "9" * 5000 + "}", "digits", id="number too long"),
    ],
)
def test_json_that_only_some_parsers_take_is_refused(path: Path, content: str, message: str) -> None:
    document, (problem,) = read_json(path, content)
    assert document is None
    assert problem.rule == "machine/syntax"
    assert message in problem.message


def test_brackets_inside_text_are_not_nesting(path: Path) -> None:
    values = changed(machine_values(), "machine.cpu_model", '[[[{{{"' * 20)
    assert read_json(path, text(values))[1] == []


@pytest.mark.parametrize(
    "content",
    [pytest.param(one, id=one[:9]) for one in ("[]", "null", "3", '"text"', "true")],
)
def test_a_document_that_is_no_object_is_refused(path: Path, content: str) -> None:
    _, (problem,) = read_json(path, content)
    assert problem.message.startswith("the document: ")
    assert (problem.line, problem.column) == (1, 1)


def test_bytes_that_are_not_utf8_are_refused(path: Path) -> None:
    assert [one.rule for one in read_json(path, b'{"a": "\xff"}')[1]] == ["machine/encoding"]


def test_half_a_character_is_a_problem(path: Path) -> None:
    content = text().replace("Example CPU 9000", "\\ud800")
    document, problems = read_json(path, content)
    assert document is None
    assert all(problem.message.isprintable() for problem in problems)


def test_a_file_too_large_is_not_read(path: Path) -> None:
    _, (problem,) = read_json(path, " " * (documents.MAX_DOCUMENT_BYTES + 1))
    assert problem.rule == "machine/size"


def test_a_missing_file_is_a_problem(path: Path) -> None:
    assert [one.rule for one in read_machine_file(path, "machine.json")[1]] == ["machine/file"]


def test_links_are_not_followed_and_devices_not_read(path: Path, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(text(), encoding="utf-8")
    for target in (tmp_path / "other.json", "/dev/zero"):
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        document, (problem,) = read_machine_file(path, "machine.json")
        assert document is None
        assert problem.message == "cannot be read: not a regular file"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("{" + ",".join(f'"k{number}":0' for number in range(15_000)) + "}", id="unknown keys"),
        pytest.param('"' + '\\"' * 120_000, id="quotes without end"),
        pytest.param("{" + '"k":{},' * 30_000 + '"k":{}}', id="the same key"),
    ],
)
def test_a_document_made_to_be_slow_ends_with_few_problems(path: Path, content: str) -> None:
    document, problems = read_json(path, content)
    assert document is None
    assert 0 < len(problems) <= 200


# TOML


def test_a_sound_source_is_read(toml: Path) -> None:
    document, problems = read_toml(toml, source_toml())
    assert problems == []
    assert document is not None
    assert document.findings[0].id == "cost-does-not-follow"


@pytest.mark.parametrize(
    ("old", "new", "key", "rule"),
    [
        pytest.param('kind = "talk"', "kind = 3", "kind", "string-type", id="number for text"),
        pytest.param('kind = "talk"', 'kind = ""', "kind", "string-too-short", id="empty text"),
        pytest.param('kind = "talk"', "kind = 2020-01-01", "kind", "string-type", id="date for text"),
        pytest.param('kind = "talk"', "kind = nan", "kind", "string-type", id="not a number"),
        pytest.param('read = "full"', 'read = "half"', "read", "literal-error", id="unknown choice"),
        pytest.param('grade = "S"', 'grade = "A"', "grade", "literal-error", id="unknown grade"),
        pytest.param('date = "2023-05-19"', 'date = "May"', "date", "string-pattern-mismatch", id="no date"),
        pytest.param('date = "2023-05-19"', 'date = "2023-13"', "date", "string-pattern-mismatch", id="month 13"),
        pytest.param('date = "2023-05-19"', 'date = "2023-00"', "date", "string-pattern-mismatch", id="month 0"),
        pytest.param('date = "2023-05-19"', 'date = "2023-01-32"', "date", "string-pattern-mismatch", id="day 32"),
        pytest.param('where = "a conf', 'wher = "x"\nwhere = "a conf', "wher", "extra-forbidden", id="unknown key"),
        pytest.param("remarks = [", "remarks = [1, ", "remarks", "string-type", id="number in a list"),
        pytest.param("schema_version = 1", "schema_version = 0x" + "f" * 5000, "schema_version", "", id="huge number"),
    ],
)
def test_a_wrong_toml_value_is_named_with_its_line(toml: Path, old: str, new: str, key: str, rule: str) -> None:
    content = source_toml().replace(old, new)
    document, (problem,) = read_toml(toml, content)
    assert document is None
    assert problem.message.startswith(key)
    assert problem.rule.startswith(f"source/{rule}")
    assert (problem.line, problem.column) == place_of(content, f"{key} =")


def test_a_missing_toml_key_is_named_at_the_top(toml: Path) -> None:
    _, (problem,) = read_toml(toml, source_toml().replace('kind = "talk"\n', ""))
    assert problem.message.startswith("kind: ")
    assert (problem.rule, problem.line) == ("source/missing", 1)


def test_a_fault_in_the_second_of_two_tables_is_placed_there(toml: Path) -> None:
    findings = [{"id": "one", "sentence": "First."}, {"id": "TWO", "sentence": "Second."}]
    content = source_toml(findings)
    _, (problem,) = read_toml(toml, content)
    assert problem.message.startswith("findings.1.id: ")
    assert (problem.line, problem.column) == place_of(content, 'id = "TWO"')


def test_a_key_missing_in_a_table_is_placed_at_its_header(toml: Path) -> None:
    content = source_toml([{"id": "one", "sentence": "First."}, {"id": "two"}])
    _, (problem,) = read_toml(toml, content)
    assert problem.message.startswith("findings.1.sentence: ")
    assert problem.line == place_of(content, 'id = "two"')[0] - 1


@pytest.mark.parametrize(
    ("content", "place"),
    [
        pytest.param('title = "a"\ntitle = "b"\n', (2, 12), id="repeated key"),
        pytest.param('title = "a"\nkind = \n', (2, 8), id="no value"),
        pytest.param('title = "open\n', (1, 14), id="open text"),
        pytest.param('title = "a\x00"\n', (1, 11), id="NUL"),
        pytest.param("[a\n", (1, 3), id="open header"),
    ],
)
def test_broken_toml_is_placed(toml: Path, content: str, place: tuple[int, int]) -> None:
    _, (problem,) = read_toml(toml, content)
    assert (problem.rule, problem.line, problem.column) == ("source/syntax", *place)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("a." * 5000 + "a = 1", id="dotted key"),
        pytest.param("a = " + "[" * 50_000, id="open lists"),
        pytest.param("a = " + "[" * 300 + "]" * 300, id="lists"),
        pytest.param("a = " + "{a = " * 2000, id="tables"),
    ],
)
def test_deep_toml_ends_in_problems(toml: Path, content: str) -> None:
    document, problems = read_toml(toml, content)
    assert document is None
    assert problems


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = sorted(f"{top}.{key}" for top, part in machine_values().items() if isinstance(part, dict) for key in part)


@given(st.sampled_from([*KEYS, "machine", "run", "schema_version", "machine.extra"]), JSON_VALUES)
def test_any_value_at_any_key_ends_in_a_document_or_placed_problems(
    tmp_path_factory: pytest.TempPathFactory, key: str, value: object
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "machine.json"
    document, problems = read_json(path, text(changed(machine_values(), key, value)))
    assert (document is None) == bool(problems)
    assert all(problem.message.isprintable() for problem in problems)


@given(st.binary(max_size=200) | st.text(alphabet='{}[]":,\\tnu0e-. \n', max_size=80).map(str.encode))
def test_any_bytes_end_in_problems(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    for document, problems in (read_json(folder / "m.json", content), read_toml(folder / "s.toml", content)):
        assert document is None
        assert problems


@given(st.text(alphabet="=[]\".'#\n ab0-:{},_x", max_size=60), st.integers(0, 400))
def test_any_text_amid_a_source_ends_in_a_document_or_problems(
    tmp_path_factory: pytest.TempPathFactory, words: str, place: int
) -> None:
    whole = source_toml()
    document, problems = read_toml(tmp_path_factory.mktemp("fuzz") / "s.toml", whole[:place] + words + whole[place:])
    assert (document is None) == bool(problems)


@pytest.mark.parametrize("read", [pytest.param(read_json, id="json"), pytest.param(read_toml, id="toml")])
def test_a_byte_order_mark_is_told_as_such(
    tmp_path: Path, read: Callable[[Path, str], tuple[object, list[Problem]]]
) -> None:
    _, (problem,) = read(tmp_path / ("a.toml" if read is read_toml else "a.json"), "\ufeffa = 1\n")
    assert (problem.rule.partition("/")[2], problem.line, problem.column) == ("encoding", 1, 1)
    assert "--fix" in problem.hint


def test_a_key_of_many_dots_is_refused_before_it_is_parsed(toml: Path) -> None:
    _, (problem,) = read_toml(toml, "\n" + "a." * 100_000 + "a = 1\n")
    assert (problem.rule, problem.line) == ("source/syntax", 2)


def test_many_faults_on_many_lines_are_placed_in_time(toml: Path) -> None:
    _, problems = read_toml(toml, "\n" * 200_000 + "".join(f"k{place} = 1\n" for place in range(6000)))
    assert len(problems) == 200
    assert ("k7", 200_008) in {(problem.message.partition(":")[0], problem.line) for problem in problems}
