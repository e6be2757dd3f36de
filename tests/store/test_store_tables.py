"""CSV tables: what is read, what is refused with its place, and what is written."""

from __future__ import annotations

import csv
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.builders import baseline_row, many_blocks, write_samples
from probe_effect.model import HostNotReady, ProbeEffectError, Sample
from probe_effect.store import tables
from probe_effect.store.result_tables import SAMPLE_COLUMNS, RunWriter, as_note, read_samples
from probe_effect.store.tables import FORMULA_SIGNS, Column, TableReader, cell_fault, csv_line, printable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from probe_effect.model import Problem
    from probe_effect.store.tables import Row

COLUMNS = (
    Column("id", "string", "An id.", required=True, pattern="[a-z]+"),
    Column("kind", "string", "One of two.", choices=("x", "y")),
    Column("count", "integer", "How many."),
    Column("value", "number", "A decimal, also negative.", minimum=None),
    Column("note", "string", "Words."),
)
HEADER = "id,kind,count,value,note\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


def read(path: Path, content: str | bytes) -> tuple[list[Row], list[Problem]]:
    """Rows and problems of a file with that content."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    reader = TableReader("table.csv", "t", COLUMNS)
    return reader.read(path), reader.problems


def only_problem(path: Path, content: str | bytes) -> Problem:
    """The one problem of a file without sound rows."""
    _, (problem,) = read(path, content)
    return problem


def test_a_sound_file_is_read_with_its_types_and_lines(path: Path) -> None:
    rows, problems = read(path, HEADER + 'a,x,3,-1.50,"one, two"\nb,,,,\n')
    assert problems == []
    assert [row.line for row in rows] == [2, 3]
    assert rows[0].cells["count"] == 3
    assert str(rows[0].cells["value"]) == "-1.50"
    assert rows[0].cells["note"] == "one, two"


def test_an_empty_cell_is_missing_and_never_zero_or_empty_text(path: Path) -> None:
    rows, _ = read(path, HEADER + "b,,,,\n")
    assert rows[0].cells == {"id": "b", "kind": None, "count": None, "value": None, "note": None}


def test_columns_may_stand_in_another_order_and_further_ones_may_follow(path: Path) -> None:
    rows, problems = read(path, "note,value,count,kind,id,later\nn,1,2,y,c,anything\n")
    assert problems == []
    assert rows[0].cells["count"] == 2
    assert "later" not in rows[0].cells


def test_a_header_alone_is_a_table_without_rows(path: Path) -> None:
    assert read(path, HEADER) == ([], [])


@pytest.mark.parametrize(
    ("content", "rule", "line"),
    [
        pytest.param(HEADER.encode() + b"a,x,1,1,\xff\n", "t/encoding", 2, id="not UTF-8"),
        pytest.param(HEADER.encode("utf-16"), "t/encoding", 1, id="UTF-16"),
        pytest.param(HEADER + "a,x,1,1,n\r\n", "t/line-ends", 2, id="carriage return"),
        pytest.param(HEADER + "a,,,,\na,x,1,1,\x00\n", "t/line-ends", 3, id="NUL"),
        pytest.param(HEADER + 'a,x,1,1,"open\n', "t/csv", 2, id="quote without end"),
        pytest.param(HEADER + 'a,x,1,1,"b"c\n', "t/csv", 2, id="text after a quote"),
        pytest.param(HEADER + "a,x,1,1\n", "t/cells", 2, id="missing cell"),
        pytest.param(HEADER + "a,x,1,1,n,more\n", "t/cells", 2, id="extra cell"),
        pytest.param(HEADER + "a,,,,\n\nb,,,,\n", "t/cells", 3, id="blank line"),
        pytest.param(HEADER + "a,,,,\n,,,,\n", "t/cells", 3, id="blank row of a spreadsheet"),
        pytest.param(HEADER + "a,,,,\n\0\0", "t/line-ends", 3, id="NUL behind the end"),
        pytest.param(HEADER + "a,,\0,,\n", "t/line-ends", 2, id="NUL within"),
        pytest.param("id,kind,count,value,note,id\n", "t/header", 1, id="repeated column"),
        pytest.param("id,kind,value,note\n", "t/header", 1, id="missing column"),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_its_line(
    path: Path, content: str | bytes, rule: str, line: int
) -> None:
    problem = only_problem(path, content)
    assert (problem.rule, problem.line, problem.severity, problem.file) == (rule, line, "error", "table.csv")
    assert problem.hint


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="empty"),
        pytest.param("\n", id="blank"),
        pytest.param("a,x,1,1,n\n", id="no header"),
    ],
)
def test_a_file_without_a_header_is_told_which_it_needs(path: Path, content: str) -> None:
    problem = only_problem(path, content)
    assert (problem.rule, problem.message) == ("t/header", "the first line is no header")
    assert problem.hint.startswith("the header is id,")


@pytest.mark.parametrize("sign", [";", "\t"])
def test_other_signs_than_commas_are_told_as_a_spreadsheets(path: Path, sign: str) -> None:
    for content in (HEADER.replace(",", sign), f"sep={sign}\n{HEADER.replace(',', sign)}"):
        problem = only_problem(path, content)
        assert "a spreadsheet saved it" in problem.message
        assert "check --fix" in problem.hint


def test_a_byte_order_mark_is_told_as_such(path: Path) -> None:
    problem = only_problem(path, "\ufeff" + HEADER + "a,,,,\n")
    assert (problem.rule, problem.line, problem.message) == ("t/encoding", 1, "begins with a byte order mark")


def test_every_missing_column_of_a_wrong_header_is_named(path: Path) -> None:
    rows, problems = read(path, HEADER.replace("id", "ident").replace("count", "counted"))
    assert rows == []
    assert {problem.message for problem in problems} == {f"column `{name}` is missing" for name in ("id", "count")}


@pytest.mark.parametrize(
    ("row", "column", "place", "message"),
    [
        pytest.param(",x,1,1,n", "id", 1, "is empty", id="required"),
        pytest.param("A,x,1,1,n", "id", 1, "unexpected form", id="pattern"),
        pytest.param("a,z,1,1,n", "kind", 3, "is not known", id="choice"),
        pytest.param("a,x, 1,1,n", "count", 5, "is not a whole number", id="blank before"),
        pytest.param("a,x,1e3,1,n", "count", 5, "is not a whole number", id="exponent"),
        pytest.param("a,x,+1,1,n", "count", 5, "is not a whole number", id="plus"),
        pytest.param("a,x,1.0,1,n", "count", 5, "is not a whole number", id="decimal for integer"),
        pytest.param("a,x,01,1,n", "count", 5, "is not a whole number", id="leading zero"),
        pytest.param('a,x,"1,000",1,n', "count", 5, "is not a whole number", id="grouping"),
        pytest.param("a,x,nan,1,n", "count", 5, "is not a whole number", id="not a number"),
        pytest.param("a,x,١,1,n", "count", 5, "is not a whole number", id="other digits"),
        pytest.param("a,x," + "9" * 19 + ",1,n", "count", 5, "is not a whole number", id="too many digits"),
        pytest.param("a,x,-1,1,n", "count", 5, "is below 0", id="negative"),
        pytest.param("a,x,1,1e3,n", "value", 7, "is not a plain decimal", id="decimal with exponent"),
        pytest.param("a,x,1,.5,n", "value", 7, "is not a plain decimal", id="decimal without zero"),
        pytest.param("a,x,1,inf,n", "value", 7, "is not a plain decimal", id="infinite"),
        pytest.param("a,x,1,1,=1+1", "note", 9, "formula", id="formula"),
        pytest.param("a,x,1,1,@SUM(1)", "note", 9, "formula", id="formula with @"),
        pytest.param("a,x,1,1,+1", "note", 9, "formula", id="formula with +"),
        pytest.param("a,x,1,1,-1", "note", 9, "formula", id="formula with -"),
        pytest.param("a,x,1,1,a\tb", "note", 9, "control", id="tab"),
        pytest.param("a,x,1,1,\x1b[31m", "note", 9, "control", id="terminal escape"),
        pytest.param("a,x,1,1,a\u202eb", "note", 9, "direction", id="direction override"),
        pytest.param("a,x,1,1,a\u2066b", "note", 9, "direction", id="direction isolate"),
        pytest.param("a,x,1,1,a\u061cb", "note", 9, "direction", id="Arabic letter mark"),
        pytest.param("a,x,1,1,a\u2028b", "note", 9, "control", id="line separator"),
        pytest.param('a,x,1,1,"a\nb"', "note", 9, "control", id="newline in quotes"),
        pytest.param("a,x,1,1," + "n" * 1001, "note", 9, "is longer than 1000", id="too long"),
        pytest.param('a,x,"5",oops,n', "value", 7, "plain decimal", id="place as the canonical form has it"),
    ],
)
def test_a_bad_cell_is_named_with_line_and_column(path: Path, row: str, column: str, place: int, message: str) -> None:
    rows, problems = read(path, HEADER + "good,,,,\n" + row + "\n")
    (problem,) = problems
    assert (problem.rule, problem.line, problem.column) == ("t/cell", 3, place)
    assert problem.message.startswith(f"{column}: ")
    assert message in problem.message
    assert problem.hint
    assert [sound.cells["id"] for sound in rows] == ["good"]


def test_a_bad_second_cell_after_an_empty_first_one_has_its_own_column(path: Path) -> None:
    _, problems = read(path, HEADER + ",z,,,\n")
    assert [problem.column for problem in problems] == [1, 2]


def test_lines_stay_right_after_a_newline_in_quotes(path: Path) -> None:
    _, problems = read(path, HEADER + 'a,,,,"one\ntwo\nthree"\nb,z,,,\n')
    assert [problem.line for problem in problems] == [2, 5]


def test_all_problems_of_a_file_are_told_at_once(path: Path) -> None:
    _, problems = read(path, HEADER + "A,z,-1,x,=\n" + "a,,,,\n" + "b,z,,,\n")
    assert [(problem.line, problem.message.split(":")[0]) for problem in problems] == [
        (2, "id"),
        (2, "kind"),
        (2, "count"),
        (2, "value"),
        (2, "note"),
        (4, "kind"),
    ]


def test_a_message_shows_control_characters_as_escapes(path: Path) -> None:
    message = only_problem(path, HEADER + "a,x,1,1,\x1b]0;x\x07\u202e\n").message
    assert "\\x1b]0;x\\x07\\u202e" in message
    assert message.isprintable()


def test_a_file_full_of_faults_ends_with_a_word_that_there_are_more(path: Path) -> None:
    _, problems = read(path, HEADER + "A,,,,\n" * 5000)
    assert problems[-1].rule == "t/too-many"
    assert len(problems) == tables.MAX_PROBLEMS_PER_FILE + 1


def test_impossible_rows_are_not_all_listed_either(path: Path) -> None:
    write_samples(path, [replace(baseline_row(block, 0), wall_ns=None) for block in range(1000)])
    _, problems = read_samples(path, "samples.csv")
    assert [problem.rule for problem in problems] == ["samples/row"] * tables.MAX_PROBLEMS_PER_FILE + [
        "samples/too-many"
    ]


def test_a_header_of_a_million_names_is_refused_in_time(path: Path) -> None:
    rows, problems = read(path, ",".join(["id"] * 1_000_000) + "\n")
    assert rows == []
    assert [problem.message for problem in problems] == ["more than 200 columns"]


def test_a_file_too_large_is_not_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_FILE_BYTES", len(HEADER))
    assert read(path, HEADER) == ([], [])
    assert only_problem(path, HEADER + "a,,,,\n").rule == "t/size"


def test_a_missing_file_is_a_problem_and_not_an_error(path: Path) -> None:
    reader = TableReader("table.csv", "t", COLUMNS)
    assert reader.read(path) == []
    assert [(one.rule, one.line) for one in reader.problems] == [("t/file", None)]


def test_links_are_not_followed_and_devices_not_read(path: Path, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text(HEADER, encoding="utf-8")
    for target in (tmp_path / "other.csv", "/dev/zero"):
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        reader = TableReader("table.csv", "t", COLUMNS)
        reader.read(path)
        assert [one.message for one in reader.problems] == ["cannot be read: not a regular file"]


@pytest.mark.parametrize("text", ["0", "7", "-0.5", "123456789012345678", "1.123456789012"])
def test_plain_decimals_are_sound(text: str) -> None:
    assert cell_fault(COLUMNS[3], text) is None


@given(st.text(max_size=80) | st.text(alphabet="\x1b\u202e\x00é€😀ab", max_size=200), st.integers(1, 80))
def test_text_in_messages_is_printable_and_short(text: str, limit: int) -> None:
    shown = printable(text, limit)
    assert shown.isprintable()
    assert len(shown) <= limit + 1


@given(st.lists(st.none() | st.integers() | st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=2))
def test_a_csv_line_reads_back_as_its_cells(cells: list[int | str | None]) -> None:
    (read_back,) = csv.reader([csv_line(cells)], strict=True)
    assert read_back == ["" if cell is None else str(cell) for cell in cells]


# samples.csv

COUNTS = st.none() | st.integers(0, 10**17)
SLUGS = st.from_regex("[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}", fullmatch=True).filter(lambda text: text != "none")
WORDS = (
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp"]), min_size=1, max_size=50)
    | st.sampled_from(['"', ",", 'a "quoted", word', " lead", "trail ", "é€😀"])
).filter(lambda text: text[0] not in FORMULA_SIGNS)
ENDED_WELL = st.builds(
    Sample,
    block=st.integers(0, 10**6),
    position=st.integers(0, 10**6),
    case=SLUGS,
    tracer=SLUGS,
    arm=st.sampled_from(["traced", "check"]),
    level=st.none() | SLUGS,
    events=st.integers(1, 10**17),
    seen=COUNTS,
    lost=COUNTS,
    wall_ns=st.integers(1, 10**17),
    user_ns=COUNTS,
    sys_ns=COUNTS,
    instructions=COUNTS,
    tracer_cpu_ns=COUNTS,
    tracer_rss_bytes=COUNTS,
    output_bytes=COUNTS,
    attach_ns=COUNTS,
    detach_ns=COUNTS,
    probes=COUNTS,
    note=st.none() | WORDS,
)
ENDED_BADLY = st.builds(
    Sample,
    block=st.integers(0, 9),
    position=st.integers(0, 10**6),
    case=SLUGS,
    tracer=SLUGS,
    arm=st.just("traced"),
    status=st.sampled_from(["failed", "timeout", "skipped"]),
    note=WORDS,
)


@given(st.lists(ENDED_WELL | ENDED_BADLY, unique_by=lambda sample: (sample.block, sample.position), max_size=8))
def test_what_the_writer_writes_is_read_back_equal(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Sample]
) -> None:
    path = write_samples(tmp_path_factory.mktemp("round") / "samples.csv", rows)
    assert read_samples(path, "samples.csv") == (rows, [])


def test_the_writer_continues_a_file_without_a_second_header(path: Path) -> None:
    for row in many_blocks(2):
        with RunWriter(path) as writer:
            writer.write(row)
    assert read_samples(path, "samples.csv") == (many_blocks(2), [])


def test_the_writer_leaves_a_file_of_other_columns_alone_and_says_what_to_do(path: Path) -> None:
    path.write_text("block,position\n0,0\n")
    with pytest.raises(ProbeEffectError, match=r"(?s)another version of probe-effect.*--resume"), RunWriter(path):
        pass
    assert path.read_text() == "block,position\n0,0\n"


@pytest.mark.parametrize(
    "save",
    [
        pytest.param(lambda text: text.replace(",", ";"), id="semicolons"),
        pytest.param(lambda text: f"sep=,\n{text}", id="a line for Excel"),
        pytest.param(lambda text: text.replace("\n", "\r\n"), id="line ends of Windows"),
        pytest.param(lambda text: text.replace("\n", "\r"), id="line ends of an old Mac"),
        pytest.param(lambda text: f"\ufeff{text}", id="a byte order mark"),
    ],
)
def test_the_writer_leaves_a_file_alone_that_another_program_saved_and_says_what_mends_it(
    path: Path, save: Callable[[str], str]
) -> None:
    write_samples(path, many_blocks(2))
    saved = save(path.read_text()).encode()
    path.write_bytes(saved)
    with pytest.raises(HostNotReady, match=r"(?s)form of its own.*check --fix .* mends it"), RunWriter(path):
        pass
    assert path.read_bytes() == saved


@pytest.mark.parametrize("torn", ["", "0,7,ba"])
def test_the_writer_goes_on_where_a_power_cut_left_nul(path: Path, torn: str) -> None:
    write_samples(path, many_blocks(2))
    path.write_text(f"{path.read_text()}{torn}" + "\0" * 40)
    with RunWriter(path):
        assert read_samples(path, "samples.csv") == (many_blocks(2), [])


def test_each_row_is_on_disk_before_the_next_run(path: Path) -> None:
    with RunWriter(path) as writer:
        writer.write(baseline_row(0, 0))
        assert read_samples(path, "samples.csv")[0] == [baseline_row(0, 0)]


def samples_with(path: Path, row: str, **cells: str) -> list[Problem]:
    """Problems of a `samples.csv` whose rows are a sound one and `row` with `cells` replaced."""
    names = [column.name for column in SAMPLE_COLUMNS]
    given_cells = dict(zip_longest(names, row.split(","), fillvalue="")) | cells
    good = dict.fromkeys(names, "") | {
        "block": "0",
        "position": "0",
        "case": "baseline",
        "tracer": "none",
        "arm": "baseline",
        "events": "5",
        "wall_ns": "5",
        "status": "ok",
    }
    lines = [csv_line(names), csv_line(good.values()), csv_line(given_cells.values())]
    path.write_text("".join(lines), encoding="utf-8")
    return read_samples(path, "samples.csv")[1]


TRACED = "0,1,02-kprobe,bpftrace,traced,,100,,,5000,,,,,,,,,ok,"


def test_a_sound_traced_row_has_no_problem(path: Path) -> None:
    assert samples_with(path, TRACED) == []


@pytest.mark.parametrize(
    ("cells", "rule", "message"),
    [
        pytest.param({"position": "0"}, "samples/place", "is already in line 2", id="same place twice"),
        pytest.param({"events": ""}, "samples/row", "needs `events`", id="no events"),
        pytest.param({"events": "0"}, "samples/row", "needs `events`", id="zero events"),
        pytest.param({"wall_ns": ""}, "samples/row", "needs `wall_ns`", id="no time"),
        pytest.param({"wall_ns": "0"}, "samples/row", "needs `wall_ns`", id="zero time"),
        pytest.param({"status": "failed"}, "samples/row", "without a note", id="failed without a reason"),
        pytest.param({"tracer": "none"}, "samples/row", "arm `traced`", id="traced by nothing"),
        pytest.param({"arm": "baseline"}, "samples/row", "arm `baseline`", id="traced baseline"),
        pytest.param({"arm": "Traced"}, "samples/cell", "arm:", id="unknown arm"),
        pytest.param({"status": "good"}, "samples/cell", "status:", id="unknown status"),
        pytest.param({"case": "02_kprobe"}, "samples/cell", "case:", id="case is no id"),
        pytest.param({"probes": "-1"}, "samples/cell", "probes:", id="fewer probes than none"),
        pytest.param({"probes": "many"}, "samples/cell", "probes:", id="no number of probes"),
    ],
)
def test_a_row_that_cannot_be_is_refused_with_its_line(
    path: Path, cells: dict[str, str], rule: str, message: str
) -> None:
    (problem,) = samples_with(path, TRACED, **cells)
    assert (problem.rule, problem.line) == (rule, 3)
    assert message in problem.message
    assert problem.hint


def test_a_check_run_needs_no_time(path: Path) -> None:
    assert samples_with(path, TRACED, arm="check", wall_ns="") == []


@given(st.binary(max_size=400))
def test_any_bytes_after_a_sound_header_end_in_rows_or_problems(
    tmp_path_factory: pytest.TempPathFactory, tail: bytes
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "samples.csv"
    header = csv_line(column.name for column in SAMPLE_COLUMNS).encode()
    for content in (tail, header + tail):
        path.write_bytes(content)
        rows, problems = read_samples(path, "samples.csv")
        assert rows or problems or content == header


@given(st.text(alphabet='01,"\n abé=-\u202e', max_size=300))
def test_any_near_miss_of_a_table_ends_in_rows_or_problems(tmp_path_factory: pytest.TempPathFactory, tail: str) -> None:
    rows, problems = read(tmp_path_factory.mktemp("fuzz") / "t.csv", HEADER + tail)
    assert all(problem.message.isprintable() for problem in problems)
    assert rows or problems or not tail


NOTE = next(column for column in SAMPLE_COLUMNS if column.name == "note")


@given(st.text(max_size=50) | st.text(alphabet="=+-@ \t\n\x1ba", max_size=20) | st.text(min_size=1001, max_size=1100))
def test_a_tracers_own_words_become_a_sound_note(text: str) -> None:
    assert as_note(text)
    assert cell_fault(NOTE, as_note(text)) is None


def test_a_note_is_one_line_with_its_words() -> None:
    assert as_note("ERROR:  cannot\n\tattach") == "ERROR: cannot attach"
    assert as_note("--- no probes") == "no probes"


@pytest.mark.parametrize("cell", ["=cmd()", "a\u202eb", "x" * (tables.MAX_TEXT_LENGTH + 1)])
def test_a_cell_of_a_further_column_is_as_harmless_as_all_others(path: Path, cell: str) -> None:
    problem = only_problem(path, f"id,kind,count,value,note,later\nc,,,,,{cell}\n")
    assert (problem.line, problem.rule) == (2, "t/cell")
    assert problem.message.startswith("later: ")


def test_a_further_column_has_a_plain_name(path: Path) -> None:
    problem = only_problem(path, HEADER.replace("note", "note,<b>") + "c,,,,,\n")
    assert (problem.line, problem.rule) == (1, "t/header")
