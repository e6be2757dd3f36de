"""The linter of prose, on texts of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers import prose

if TYPE_CHECKING:
    from pathlib import Path

HALF = "Word," + " word" * (prose.MOST_WORDS // 2)
LONGEST = "Word," + " word" * (prose.MOST_WORDS - 1)


def lines(text: str) -> list[int]:
    """The lines with problems, counted from 1."""
    return [line + 1 for line, _ in prose.problems(text)]


def test_a_word_that_the_project_does_not_use_is_found_in_its_line_with_the_word_to_use() -> None:
    assert list(prose.problems("One.\n\nIt was Foretold\nlong ago.")) == [(2, '"Foretold": write predict, predicted')]
    assert lines("It stands there.") == [1]
    assert lines("It stands for a standard.") == []


def test_a_mistake_that_proselint_knows_is_found() -> None:
    assert lines("Analyzation helps.") == [1]


def test_a_sentence_of_the_most_words_passes_and_one_of_more_does_not() -> None:
    assert lines(f"Short. {LONGEST}. Short.") == []
    assert lines(f"Short.\n{LONGEST} more. Short.") == [2]
    assert lines("list of names " * prose.MOST_WORDS) == []


@pytest.mark.parametrize(
    "end", [". ", '." ', ".\nbpftrace ", "\n\n", ":\n", "\n- ", "\n  1. ", " | ", '.{{< reference "x" >}} ']
)
def test_what_ends_a_sentence_paragraph_item_or_cell_is_seen(end: str) -> None:
    assert lines(f"{HALF}{end}{HALF}{end}{HALF}") == []


@pytest.mark.parametrize("inside", [" 0.17 ", " .. ", " e.g. ", " `a. B` ", ' {{< number "a. B" >}} '])
def test_a_dot_that_ends_no_sentence_is_passed_over(inside: str) -> None:
    assert lines(f"{HALF}{inside}{HALF.lower()}") == [1]


@pytest.mark.parametrize(
    "text",
    [
        "`anew`",
        "``a ` anew``",
        "```\nanew\n```",
        "- item\n  ```sh\n  anew\n  ```",
        '+++\ntitle = "anew"\n+++\n',
        "---\ntitle: anew\n---\n",
        '{{< number "anew.cost" >}}',
        "[link](/anew/)",
        "https://example.org/anew",
        "<!-- anew -->",
        '<a id="anew">',
        "{% if anew %}",
        "{{ anew }}",
    ],
)
def test_code_and_markup_are_not_read_but_what_follows_them_is(text: str) -> None:
    assert lines(f"{text}\n\nanew") == [text.count("\n") + 3]


def test_of_python_code_docstrings_and_strings_that_may_be_prose_are_read(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        '"""A module.\n\n    It starts\n    anew.\n"""\n'
        "KEY = 'anew'\n"
        "def anew(names):  # made anew for all of them\n"
        "    print(f'{names} is read anew for {anew(names)} each')\n"
    )
    found = '"anew": write again, rebuilt'
    assert prose.problems_of(file) == [f"{file}:4: {found}", f"{file}:8: {found}"]


def test_the_exit_status_says_whether_a_file_has_problems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "page.md"
    file.write_text("Written again.\n")
    assert prose.main([str(file)]) == 0
    file.write_text("Written anew.\n")
    assert prose.main([str(file)]) == 1
    assert capsys.readouterr().out == f'{file}:1: "anew": write again, rebuilt\n'
