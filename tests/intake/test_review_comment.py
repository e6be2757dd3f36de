"""`probe-effect review-comment`: whatever the file holds, the comment is short text that does nothing."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from probe_effect.cli import commands
from probe_effect.intake.report import MAX_REPORT_BYTES, Listed, ProblemRow, ReviewReport, fitted
from probe_effect.intake.sections import MAX_COMMENT_BYTES, markdown
from probe_effect.model import BadData, UsageError

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "![x](https://example.org/track.png)",
    "[click](javascript:alert(1))",
    "@maintainer please merge, closes #1, see org/repo#2",
    "www.example.org",
    "https://example.org/",
    "a | b | c",
    "`code` **bold** ~~gone~~ $x$ [^1]",
    "</details><script>alert(1)</script>",
    "=HYPERLINK(1)",
    "{{ 7 * 7 }} {% raw %}",
    "someone@example.org",
)
SYNTAX = re.compile(r"<(?!/?(details|summary)>)|\]\(|!\[|www\.|://|`|\*\*|\{\{", re.IGNORECASE)
"""What would be more than text to a reader of Markdown."""

NOTICE = re.compile(r"@\w|(?<!\w)#\d|\w#\d")
"""What GitHub looks for in the text itself, once all references are resolved."""


def active(comment: str) -> list[str]:
    """All that is more than text, with what stands around it."""
    texts = ((SYNTAX, comment), (NOTICE, html.unescape(comment)))
    return [
        text[max(0, one.start() - 30) : one.end() + 10] for pattern, text in texts for one in pattern.finditer(text)
    ]


def values(text: str = "text", rows: int = 1) -> dict[str, Any]:
    """A review with `text` wherever text may stand."""
    case = {
        "case": text,
        "tracer": text,
        "level": text,
        "status": text,
        "blocks": 8,
        "cost_ns": 50.0,
        "cost_low_ns": 40.0,
        "cost_high_ns": 60.0,
        "loss_ratio": 0.0,
        "grade": text,
        "note": text,
    }
    measured = case | {"status": "ok"}
    compared = dict.fromkeys(("case", "tracer", "level", "before", "after", "difference", "ratio", "outcome"), text)
    nearest = {
        "machine": text,
        "name": text,
        "reasons": [text],
        "comparable": True,
        "sentences": [text],
        "compared": {"rows": [compared] * rows},
    }
    submission = {
        **dict.fromkeys(("id", "machine", "name", "tier", "suite", "submitter", "grade"), text),
        "metric": "time",
        "grade_reasons": [text],
        "blocks": 8,
        "noise_floor_ns": 1.0,
        "baseline_ns": 100.0,
        "cases": {"rows": [case, measured] * rows},
        "remarks": {
            "rows": [
                dict.fromkeys(("case", "tracer", "level", "words"), text) | {"is_odd": odd} for odd in (True, False)
            ]
            * rows
        },
        "nearest": nearest,
    }
    problem = {"severity": "error", "line": 1, "column": 1} | dict.fromkeys(("file", "rule", "message", "hint"), text)
    change = {"kind": "corrected", "what": [text], "more": 0} | dict.fromkeys(("date", "why", "old", "new"), text)
    return {
        "schema_version": 1,
        "base": text,
        "head": text,
        "errors": rows,
        "warnings": 0,
        "odd_cases": rows,
        "problems": {"rows": [problem] * rows},
        "submissions": {"rows": [submission]},
        "sources": {"rows": [{"id": text, "title": text, "figures": 3}] * rows},
        "changes": {"rows": [change] * rows},
        "numbers": {"rows": [{"id": text, "kind": "cost", "old": text, "new": text}] * rows},
        "files": {"rows": [{"change": "added", "path": text}] * rows},
    }


def report(given_values: dict[str, Any]) -> ReviewReport:
    return ReviewReport.model_validate_json(json.dumps(given_values))


def comment(file: Path, content: bytes, *options: str) -> str:
    """What the command prints of a file. Raises: BadData, UsageError."""
    file.write_bytes(content)
    found = CliRunner().invoke(commands, ["review-comment", str(file), *options], catch_exceptions=False)
    assert found.exit_code == 0
    return found.stdout


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_a_stranger_is_text_and_nothing_else(tmp_path: Path, text: str) -> None:
    said = comment(tmp_path / "review.json", json.dumps(values(text)).encode())
    assert active(said) == []


def test_a_cell_cannot_end_its_row(tmp_path: Path) -> None:
    said = comment(tmp_path / "review.json", json.dumps(values("a | b")).encode())
    rows = [line for line in said.splitlines() if line.startswith("| a")]
    assert rows
    assert all(len(row.split(" | ")) <= 8 for row in rows)


def test_the_summary_and_the_comment_say_the_same(tmp_path: Path) -> None:
    said = comment(tmp_path / "review.json", json.dumps(values()).encode())
    assert said.strip() == markdown(report(values())).strip()


RUN = "https://github.com/o/r/actions/runs/77"


def test_the_comment_names_the_commit_and_the_run_that_github_names_and_not_the_file(tmp_path: Path) -> None:
    content = json.dumps(values("from the file")).encode()
    said = comment(tmp_path / "review.json", content, "--commit", "1" * 40, "--run", RUN)
    assert f"Commit {'1' * 40} against from the file&#58; " in said
    assert f"[The run]({RUN}) has this review as its summary" in said


@pytest.mark.parametrize(
    "run", [f"{RUN}) ![](https://a.b", "javascript:alert(1)", f"{RUN}\n", "http://a.b/o/r/actions/runs/1"]
)
def test_a_run_whose_address_is_none_is_wrong_usage(tmp_path: Path, run: str) -> None:
    with pytest.raises(UsageError):
        comment(tmp_path / "review.json", json.dumps(values()).encode(), "--run", run)


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ({"errors": 38}, "## 38 errors to mend\n"),
        ({"errors": 1, "warnings": 2, "odd_cases": 3}, "## 1 error to mend\n"),
        ({"warnings": 2, "odd_cases": 1}, "## To look at&#58; 2 warnings and 1 odd case\n"),
        ({}, "## Ready to merge\n"),
        ({"problems": {}, "files": {}}, "## Nothing changes in the data\n"),
    ],
)
def test_the_first_line_is_the_verdict(tmp_path: Path, counts: dict[str, Any], verdict: str) -> None:
    content = values() | {"errors": 0, "warnings": 0, "odd_cases": 0} | counts
    assert comment(tmp_path / "review.json", json.dumps(content).encode()).startswith(verdict)


def test_a_long_table_is_folded_below_what_it_comes_to(tmp_path: Path) -> None:
    said = comment(tmp_path / "review.json", json.dumps(values(rows=11)).encode())
    _, _, nearest = said.partition("### Nearest machine")
    assert nearest.index("text&#58; text.") < nearest.index("<details><summary>11 rows</summary>")


def test_numbers_of_a_new_submission_stand_in_its_rows_and_nowhere_else(tmp_path: Path) -> None:
    content = values()
    added = {"kind": "cost", "old": None, "new": "5 ns"}
    content["numbers"]["rows"] = [added | {"id": "text/02-kprobe/bpftrace"}, added | {"id": "other/02-kprobe/bpftrace"}]
    said = comment(tmp_path / "review.json", json.dumps(content).encode())
    assert "| other/02-kprobe/bpftrace | 5 ns |" in said
    assert "| text/02-kprobe/bpftrace |" not in said


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b"", "review/syntax", id="empty"),
        pytest.param(b"[]", "review/", id="a list"),
        pytest.param(b"\xff\xfe", "review/encoding", id="not UTF-8"),
        pytest.param(b"[" * 100_000, "review/", id="deep"),
        pytest.param(b" " * (MAX_REPORT_BYTES + 1), "review/size", id="too large"),
        pytest.param(json.dumps(values() | {"more": 1}).encode(), "review/extra-forbidden", id="unknown key"),
        pytest.param(json.dumps(values("x" * 401)).encode(), "review/", id="long text"),
        pytest.param(json.dumps(values("\u202egnp.exe")).encode(), "review/value-error", id="turned text"),
        pytest.param(json.dumps(values("a\nb")).encode(), "review/value-error", id="two lines"),
        pytest.param(json.dumps(values() | {"schema_version": 2}).encode(), "review/literal-error", id="version"),
    ],
)
def test_a_file_of_another_form_makes_no_comment(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(BadData) as caught:
        comment(tmp_path / "review.json", content)
    assert any(problem.rule.startswith(words) for problem in caught.value.problems)


def test_a_link_or_a_folder_makes_no_comment(tmp_path: Path) -> None:
    (tmp_path / "review.json").mkdir()
    found = CliRunner().invoke(commands, ["review-comment", str(tmp_path / "review.json")])
    assert isinstance(found.exception, BadData)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e308", "-1e300", "5e-324", '"1"', "true"])
def test_a_number_that_no_run_could_have_makes_no_comment(tmp_path: Path, number: str) -> None:
    text = json.dumps(values()).replace('"cost_ns": 50.0', f'"cost_ns": {number}')
    assert number in text
    with pytest.raises(BadData):
        comment(tmp_path / "review.json", text.encode())


def test_what_is_too_long_is_cut_and_says_so(tmp_path: Path) -> None:
    content = json.dumps(values("<" * 80, rows=50)).encode()
    assert len(content) < MAX_REPORT_BYTES
    said = comment(tmp_path / "review.json", content)
    assert len(said.encode()) <= MAX_COMMENT_BYTES
    assert re.search(r"\d+ more rows are left out here\.", said)
    assert said.index("probe-effect review origin/main has all of them.") < said.index("## ", 3)
    linked = comment(tmp_path / "review.json", content, "--run", RUN)
    assert "The run's summary has all of them." in linked
    assert said.count("<details>") == said.count("</details>")


def test_a_report_is_cut_before_it_is_too_large_to_be_read() -> None:
    row = ProblemRow(severity="error", file="f", line=1, column=None, rule="r", message="m" * 300, hint="h")
    large = report(values()).model_copy(update={"problems": Listed(rows=(row,) * 5000)})
    text = fitted(large, ReviewReport.model_dump_json, MAX_REPORT_BYTES)
    found = ReviewReport.model_validate_json(text)
    assert len(text.encode()) <= MAX_REPORT_BYTES
    assert found.problems.count == 5000
    assert found.problems.rows


TEXTS = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=50))
NUMBERS = st.none() | st.floats() | st.integers()


@given(TEXTS, st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS))
def test_whatever_the_models_let_through_can_be_written(text: str, numbers: tuple[float | None, ...]) -> None:
    document = values(text)
    row = document["submissions"]["rows"][0]
    names = ("cost_ns", "cost_low_ns", "cost_high_ns", "loss_ratio")
    row["cases"]["rows"][1].update(zip(names, numbers, strict=True))
    try:
        found = report(document)
    except (ValidationError, UnicodeEncodeError):
        return
    said = fitted(found, markdown, MAX_COMMENT_BYTES)
    assert active(said) == []
