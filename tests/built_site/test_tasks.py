"""The bench of what readers do: what it counts on a page of our own, and two of its tasks on the real site."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evidence.tasks import Task, chosen, document, read_tasks, table, walk
from evidence.tasks_reader import MOST_CLICKS, MOST_WORDS, Way
from helpers.site_build import served
from helpers.tiers import deep_but
from probe_effect.model import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.site]

PAGE = """<!doctype html><title>t</title><meta charset=utf-8><style>.visually-hidden { position: absolute }</style>
<body><header><a href=other.html>Other</a> <a href=#end>End</a></header>
<main><p id=first>one two <span class=visually-hidden>never</span><i hidden>never</i> three – </p>
<details><summary>four</summary><p>five six seven</p></details>
<label>eight <select><option>nine<option>ten eleven<option>twelve</select></label>
<label>thirteen <input></label>
<svg width=90 height=20><title>never</title><text y=15>fourteen</text></svg>
<p id=answer>The answer is 42.</p><p>more</p><p id=end>At the end.</p></main>
<footer><p>ours</p><a href=other.html#there>There</a></footer>
"""
OTHER = "<!doctype html><title>o</title><p>a b c d</p><h2 id=there>e f</h2><p class=it>g</p>"
ANSWER = {"read": "#answer", "says": "the ANSWER"}


@pytest.fixture
def go(chromium: Browser, tmp_path: Path) -> Iterator[Callable[..., Way]]:
    """From steps after the first page to the way that they were."""
    (tmp_path / "index.html").write_text(PAGE)
    (tmp_path / "other.html").write_text(OTHER)
    with served(tmp_path) as found:
        yield lambda *steps, right=(): walk(chromium, found, Task("t", "asks", ({"go": ""}, *steps), right))


def test_words_in_view_before_the_answer_are_passed_and_no_others(go: Callable[..., Way]) -> None:
    way = go(ANSWER, right=(r"is \d+",))
    assert (way.clicks, way.words) == (0, len("Other End one two three four eight thirteen fourteen".split()))
    assert way.answer == "The answer is 42."
    assert way.is_right


def test_an_opened_fold_and_the_options_down_to_the_chosen_one_are_passed(go: Callable[..., Way]) -> None:
    plain = go(ANSWER)
    assert go({"click": "summary", "named": "four"}, ANSWER).words == plain.words + len("five six seven".split())
    way = go({"choose": "eight", "option": "eleven"}, {"fill": "thirteen", "with": "x"}, ANSWER)
    assert (way.clicks, way.words) == (2, plain.words + len("nine ten eleven".split()))


def test_a_reader_sees_the_footer_at_a_glance_and_begins_where_a_link_leads(go: Callable[..., Way]) -> None:
    way = go({"click": "link", "named": "There"}, {"read": ".it"})
    assert way.words == len("ours There e f".split())
    assert way.pages == ["", "other.html#there"]
    assert go({"click": "link", "named": "End"}, {"read": "#end"}).words == len("Other End".split())


def test_what_is_read_must_say_what_a_right_answer_says(go: Callable[..., Way]) -> None:
    assert go(ANSWER, right=("42",)).is_right
    assert not go(ANSWER, right=("42", "43")).is_right


def test_a_way_that_the_site_does_not_have_ends_there_and_is_not_right(
    go: Callable[..., Way], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidence.tasks_reader.PATIENCE_MS", 50)
    way = go({"click": "link", "named": "Nowhere"}, ANSWER)
    assert "Nowhere" in way.stopped
    assert not way.is_right
    assert "Nowhere" in table([way])


def test_only_a_right_answer_after_few_clicks_and_words_is_within_the_targets() -> None:
    good = Way("t", "asks", clicks=MOST_CLICKS, words=MOST_WORDS, is_right=True)
    assert good.is_within_targets
    for worse in (
        Way("t", "", MOST_CLICKS + 1, is_right=True),
        Way("t", "", words=MOST_WORDS + 1, is_right=True),
        Way("t", ""),
    ):
        assert not worse.is_within_targets
    (found,) = document([good])
    assert found["seconds"] == pytest.approx(MOST_WORDS / 230 * 60)


def test_every_task_has_a_name_of_its_own_and_ends_by_reading_its_answer() -> None:
    tasks = read_tasks()
    assert len({task.id for task in tasks}) == len(tasks)
    for task in tasks:
        assert next(iter(task.steps[0])) == "go"
        assert "read" in task.steps[-1]
        assert task.right
    with pytest.raises(UsageError):
        chosen(tasks, ["none"])


@pytest.mark.parametrize("name", deep_but(("1b", "9"), ["9"]))
def test_a_task_can_be_done_on_the_site_in_few_clicks(chromium: Browser, address: str, name: str) -> None:
    (task,) = chosen(read_tasks(), [name])
    way = walk(chromium, address, task)
    assert way.is_right, table([way])
    assert way.clicks <= MOST_CLICKS
