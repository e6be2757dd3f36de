"""What readers need to get their answers from a site: clicks, words that they pass, seconds, and what they read.

    PYTHONPATH=tests .venv/bin/python -m evidence.tasks [--site build/site] [--ways FILE] [--only ID] [--width 390]
        [--json FILE]

`tasks.toml` has the tasks, each with its steps, which a real browser takes on the built site. A step is one of:

    { go = "advise/" }                           the reader comes to this page; no click
    { click = "link", named = "Kernels" }        a role, or `summary`, and a part of its name
    { choose = "Machine", option = "4247" }      a selection by its label, and a part of the option's text
    { fill = "Events per second", with = "1k" }  a field by its label
    { press = "Enter" }                          a key, in the field that was filled last
    { read = "#answer p", says = "slows by" }    an answer: the first such element that has a match of `says`

`within` limits a click to what a selector finds, and `exact` to the whole name. A task may read in several places; what
was read is the right answer if it has a match of each pattern in `right`. In patterns a space is any white space.

A click, a choice, a filled field and a key are one click each. Words are those in view between the place where the
reader is and the place of the next step, in reading order, with those of what is clicked and the options of a
selection down to the one that is taken (`tasks.js`). Seconds are the browser's for the steps, and those of a reader
who reads 230 words a minute. Targets: three clicks and 250 words.
"""

from __future__ import annotations

import json
import shutil
import sys
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from playwright.sync_api import Error, sync_playwright

from evidence.tasks_reader import Reader, Way, pattern
from helpers.site_build import PROJECT, served
from probe_effect.model import ProbeEffectError, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from playwright.sync_api import Browser

WAYS = Path(__file__).with_suffix(".toml")
SHOWN_WORDS = 40


@dataclass(frozen=True, slots=True)
class Task:
    """What somebody wants to know, the steps to it, and patterns that a right answer has."""

    id: str
    asks: str
    steps: tuple[Mapping[str, str], ...]
    right: tuple[str, ...] = ()


def read_tasks(file: Path = WAYS) -> list[Task]:
    """The tasks of a file, in its order."""
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    return [
        Task(found["id"], found["asks"], tuple(found["steps"]), tuple(found.get("right", ())))
        for found in document["task"]
    ]


def walk(browser: Browser, address: str, task: Task, width: int = 1280) -> Way:
    """The way of a reader with an empty cache through a task, as far as it goes."""
    way = Way(task.id, task.asks)
    context = browser.new_context(viewport={"width": width, "height": 844 if width < 720 else 900})
    reader = Reader(context.new_page(), address, way)
    for step in task.steps:
        try:
            reader.take(step)
        except Error as error:
            way.stopped = f"{written(step)}: {error.message.splitlines()[0]}"
            break
    context.close()
    way.is_right = not way.stopped and all(pattern(text).search(way.answer) for text in task.right)
    return way


def written(step: Mapping[str, str]) -> str:
    """A step in one line."""
    return ", ".join(f"{key} {value!r}" for key, value in step.items())


def table(ways: Iterable[Way]) -> str:
    """The ways as Markdown."""
    lines = [
        "| Task | Asks | Clicks | Words | Seconds | Right | Within targets | Read |",
        "|:--|:--|--:|--:|--:|:--|:--|:--|",
    ]
    for way in ways:
        words = way.answer.split()
        read = " ".join(words[:SHOWN_WORDS]) + (" .." if len(words) > SHOWN_WORDS else "")
        cells = [way.task, way.asks, str(way.clicks), str(way.words), f"{way.seconds:.0f}"]
        cells += ["yes" if holds else "**no**" for holds in (way.is_right, way.is_within_targets)]
        cells.append(" ".join(filter(None, (read, way.stopped and f"(stopped at {way.stopped})"))))
        lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
    return "\n".join(lines)


def document(ways: Iterable[Way]) -> list[dict[str, object]]:
    """The ways for JSON: a way's fields, `seconds` and `is_within_targets`."""
    return [asdict(way) | {"seconds": way.seconds, "is_within_targets": way.is_within_targets} for way in ways]


def chosen(tasks: Sequence[Task], ids: Sequence[str]) -> list[Task]:
    """The tasks of some ids; all without any. Raises: UsageError for an unknown id."""
    unknown(ids, [task.id for task in tasks], "task")
    return [task for task in tasks if not ids or task.id in ids]


@click.command()
@click.option("--site", default=PROJECT / "build/site", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--ways", default=WAYS, type=click.Path(exists=True, path_type=Path), help="Another file of tasks.")
@click.option("--only", "ids", multiple=True, metavar="ID", help="A task; repeat for several.")
@click.option("--width", default=1280, show_default=True, help="Of the window, in CSS pixels.")
@click.option("--json", "file", type=click.Path(path_type=Path), help="Where the ways go as JSON.")
def main(*, site: Path, ways: Path, ids: tuple[str, ...], width: int, file: Path | None) -> None:
    """Print the ways as a table. Exit 1 when one ended without the right answer."""
    try:
        tasks = chosen(read_tasks(ways), ids)
    except ProbeEffectError as error:
        raise click.ClickException(str(error)) from error
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if program is None:
        sys.exit("Needed: chromium. Install it with: sudo apt-get install chromium-headless-shell")
    with served(site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--headless=new", "--no-sandbox", "--disable-gpu"]
        )
        found = [walk(browser, address, task, width) for task in tasks]
        browser.close()
    print(table(found))
    if file is not None:
        file.write_text(json.dumps(document(found), indent=1) + "\n", encoding="utf-8")
    sys.exit(not all(way.is_right for way in found))


if __name__ == "__main__":
    main()
