"""`probe-effect import`: what it writes and says, that `check` has nothing against it, and hostile input."""

from __future__ import annotations

import csv
import io
import os
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import PROJECT, write_data
from import_builders import problems_of, source_of
from probe_effect.checks.run import check_all
from probe_effect.cli.group import commands
from probe_effect.errors import HostNotReady, UsageError
from probe_effect.importers.files import GivenFile
from probe_effect.importers.mapped_csv import Columns, Mapping, read_mapped_csv
from probe_effect.store.places import DataFolder
from probe_effect.store.source_file import read_figures, read_source
from probe_effect.store.source_writer import write_source
from probe_effect.store.tables import MAX_FILE_BYTES

RECORDED = PROJECT / "tests" / "data" / "import"
GO = ["go-bench", str(RECORDED / "go-bench.txt"), "--id", "a-source", "--title", "A source"]
UNTRACED = "BenchmarkGetpidWithoutAnyProbes/getpid"
TRACEPOINT = "BenchmarkGetpidTracepointWithNoMap/getpid"


def run(*arguments: str) -> str:
    """What the command prints, products first; errors come through."""
    result = CliRunner().invoke(commands, ["import", *arguments], catch_exceptions=False, standalone_mode=False)
    assert result.exception is None
    return result.stdout


def error_of(*arguments: str) -> str:
    with pytest.raises(UsageError) as caught:
        run(*arguments)
    assert caught.value.exit_status == 2
    assert "Expected " in str(caught.value)
    return str(caught.value)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["hyperfine", "hyperfine.json"], id="hyperfine"),
        pytest.param(["hyperfine", "hyperfine.json", "--baseline", "dd"], id="hyperfine, whole runs"),
        pytest.param(["hyperfine", "hyperfine.json", "--baseline", "dd", "--operations", "20000"], id="operations"),
        pytest.param(["go-bench", "go-bench.txt", "--baseline", UNTRACED], id="go"),
        pytest.param(["go-bench", "go-bench-one-cpu.txt", "--baseline", UNTRACED], id="go, one CPU"),
        pytest.param(["go-bench", "go-bench-failed.txt", "--baseline", UNTRACED], id="go, failed"),
        pytest.param(["kernel-bench", "kernel-bench.txt"], id="bench"),
        pytest.param(["kernel-bench", "run-bench-uprobes.txt", "--baseline", "usermode-count"], id="bench, script"),
    ],
)
def test_every_recorded_file_becomes_a_source_without_problems(tmp_path: Path, arguments: list[str]) -> None:
    form, file, *options = arguments
    printed = run(
        form, str(RECORDED / file), "--id", "a-source", "--title", "A source", "--out", str(tmp_path), *options
    )
    folder = tmp_path / "a-source"
    assert printed.strip() == str(folder)
    document, problems = read_source(folder / "source.toml", "source.toml")
    assert problems == []
    assert document is not None
    assert (document.title, document.read, document.grade) == ("A source", "full", "S")
    assert document.remarks[1].startswith("The file does not say: ")
    assert file in document.where


def test_a_source_in_the_data_is_in_the_change_log_too(data: Path) -> None:
    before = [problem for problem in check_all(DataFolder(data)) if problem.severity == "error"]
    (data / "changes.toml").write_text(
        'schema_version = 1\n\n[[changes]]\ndate = "2024-01-01"\nkind = "added"\nwhat = ["a-talk"]\nwhy = "First."\n'
    )
    run(*GO, "--data", str(data))
    assert (data / "published" / "a-source" / "figures.csv").is_file()
    assert 'what = ["a-source"]' in (data / "changes.toml").read_text()
    assert [problem for problem in check_all(DataFolder(data)) if problem.severity == "error"] == before == []


def test_what_is_missing_is_printed() -> None:
    with TemporaryDirectory() as folder:
        result = CliRunner().invoke(commands, ["import", *GO, "--out", folder], standalone_mode=False)
    assert "  - whether the tracer saw every event, as b.N counts operations only\n" in result.stderr
    assert "  - which runs are the untraced ones: without --baseline no cost is drawn\n" in result.stderr


def test_options_win_over_what_the_file_says(tmp_path: Path) -> None:
    told = [
        "--hardware",
        "A box",
        "--os",
        "Linux 6.12",
        "--tools",
        "bpftrace 0.23",
        "--author",
        "Jane",
        "--date",
        "2024-08",
    ]
    run(*GO, "--out", str(tmp_path), "--where", "a talk", *told)
    document, _ = read_source(tmp_path / "a-source" / "source.toml", "source.toml")
    assert document is not None
    assert (document.hardware, document.os, document.author) == ("A box", "Linux 6.12", "Jane")
    assert (document.date, document.where, document.tool_versions) == ("2024-08", "a talk", "bpftrace 0.23")


def test_a_csv_needs_its_mapping_and_nothing_else_has_one(tmp_path: Path) -> None:
    table, mapping = tmp_path / "times.csv", tmp_path / "times.toml"
    table.write_text("probe,time\nnone,100\nkprobe,150\n")
    mapping.write_text('schema_version = 1\nunit = "ns"\n[columns]\nname = "probe"\nvalue = "time"\n')
    options = ["--id", "a-source", "--title", "A source", "--out", str(tmp_path)]
    assert "no mapping file" in error_of("csv", str(table), *options)
    assert "a mapping file for hyperfine" in error_of("hyperfine", str(table), "--mapping", str(mapping), *options)
    run("csv", str(table), "--mapping", str(mapping), "--baseline", "none", "--case", "02-kprobe=kprobe", *options)
    figures, problems = read_figures(tmp_path / "a-source" / "figures.csv", "figures.csv")
    assert problems == []
    costs = [(figure.case, figure.cost_ns) for figure in figures if figure.cost_ns is not None]
    assert costs == [("02-kprobe", Decimal(50))]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        pytest.param(["--id", "A Source"], "--id: `A Source`", id="an id that is none"),
        pytest.param(["--id", "../../etc"], "--id: ", id="an id that leads elsewhere"),
        pytest.param(["--id", "a" * 100], "--id: ", id="a long id"),
        pytest.param(
            ["--case", "02-kprob=x"], "`02-kprob` is no case. Expected one such as 02-kprobe", id="no case of ours"
        ),
        pytest.param(["--case", "02-kprobe"], "OURS=THEIRS", id="half a case"),
        pytest.param(
            ["--case", "02-kprobe=x", "--baseline", UNTRACED], "--case: `x` is not in the files", id="not theirs"
        ),
        pytest.param(["--case", f"02-kprobe={TRACEPOINT}"], "Name it with --baseline", id="a case without a cost"),
        pytest.param(["--operations", "10"], "one operation already", id="operations of operations"),
        pytest.param(["--tracer", "BPF trace"], "--tracer: `BPF trace`", id="a tracer that is no id"),
        pytest.param(["--date", "yesterday"], "date", id="a date that is none"),
        pytest.param(["--title", ""], "title", id="no title"),
        pytest.param(["--author", "a\u202eb"], "author", id="characters that change the direction"),
    ],
)
def test_options_that_do_not_fit_are_refused_and_nothing_is_written(
    tmp_path: Path, options: list[str], says: str
) -> None:
    assert says in error_of(*GO, "--out", str(tmp_path), *options)
    assert list(tmp_path.iterdir()) == []


def test_a_source_is_never_overwritten(tmp_path: Path) -> None:
    run(*GO, "--out", str(tmp_path))
    assert "is there already" in error_of(*GO, "--out", str(tmp_path))


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    source = source_of(read_mapped_csv([GivenFile("t", "p,t\nnone,1\n")], mapping()))
    with pytest.raises(HostNotReady, match="cannot be written"):
        write_source(tmp_path / "file" / "a-source", source.document, source.figures)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        pytest.param(lambda _: None, "cannot be read", id="not there"),
        pytest.param(lambda path: path.mkdir(), "cannot be read", id="a folder"),
        pytest.param(lambda path: path.symlink_to("/dev/zero"), "not a regular file", id="a link"),
        pytest.param(os.mkfifo, "not a regular file", id="a pipe"),
        pytest.param(lambda path: path.write_bytes(b"\xff\xfe"), "no UTF-8 at byte 0", id="no UTF-8"),
        pytest.param(lambda path: path.write_bytes(b"a\0b"), "NUL", id="NUL"),
        pytest.param(lambda path: path.write_bytes(b" " * (MAX_FILE_BYTES + 1)), "Expected at most", id="too large"),
        pytest.param(lambda path: path.write_bytes(b"[" * MAX_FILE_BYTES), "", id="very deep"),
        pytest.param(lambda path: path.write_bytes(b"1" * MAX_FILE_BYTES), "", id="one line"),
    ],
)
@pytest.mark.parametrize("form", ["hyperfine", "go-bench", "kernel-bench"])
def test_files_that_are_none_are_refused(tmp_path: Path, form: str, make: object, says: str) -> None:
    assert callable(make)
    make(tmp_path / "given")
    options = ["--id", "a-source", "--title", "A source", "--out", str(tmp_path / "out")]
    assert says in error_of(form, str(tmp_path / "given"), *options)


def test_lines_of_another_system_are_read(tmp_path: Path) -> None:
    (tmp_path / "bench.txt").write_bytes(b"\xef\xbb\xbfBenchmarkRead 10 5 ns/op\r\nBenchmarkRead 10 6 ns/op\r\n")
    run("go-bench", str(tmp_path / "bench.txt"), "--id", "a-source", "--title", "A", "--out", str(tmp_path))


def test_the_help_has_an_example_of_each_format() -> None:
    help_text = CliRunner().invoke(commands, ["import", "--help"]).stdout
    for form in ("hyperfine", "go-bench", "kernel-bench", "csv"):
        assert f"probe-effect import {form} " in help_text


def mapping() -> Mapping:
    return Mapping(schema_version=1, unit="ns", baseline="none", columns=Columns(name="p", value="t"))


NASTY = st.sampled_from(
    [
        "<img src=x onerror=alert(1)>",
        "{{ 7 * 7 }}",
        "{cost_a}",
        "](javascript:x)",
        "=cmd()",
        "@x",
        "\u202eabc",
        '"""',
        "a\\b",
    ]
)


@settings(max_examples=80)
@given(
    st.lists(
        st.tuples(st.text(min_size=1, max_size=200) | NASTY, st.decimals(Decimal("0.01"), Decimal(10**8), places=2)),
        max_size=8,
    )
)
def test_whatever_can_be_read_passes_the_checks(rows: list[tuple[str, Decimal]]) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([("p", "t"), ("none", 100), *rows])
    try:
        source = source_of(read_mapped_csv([GivenFile("t.csv", out.getvalue())], mapping()))
    except UsageError:
        return
    with TemporaryDirectory() as folder:
        problems = problems_of(source, Path(folder) / "a-source")
    assert [problem for problem in problems if problem.severity == "error"] == []
