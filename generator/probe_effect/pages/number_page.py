"""The page of a number: one case, tracer and level of one submission, its quantities, and the rows they are made of."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from probe_effect import units
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
from probe_effect.numbers.names import LATER_EDITION
from probe_effect.pages import addresses, changes_page, citing, executed, instructions, submission_page
from probe_effect.pages.markdown import is_plain_word, page_code, render
from probe_effect.pages.results import view_of_submission
from probe_effect.pages.results.cells import NumberColumn
from probe_effect.pages.results.view import ResultView
from probe_effect.reduce.rows import BlockTable
from probe_effect.reduce.submission import Number, Submission
from probe_effect.store.places import linux_form
from probe_effect.store.suite_file import script_path

WIDTH, ROW_HEIGHT, EDGE = 720, 5, 6
"""Of the drawing of blocks, of the line of a block, and what is left free around them; px."""

FEWEST = 3
"""Blocks of a drawing: fewer are read from their table."""


def write_all(submission: Submission, catalogue: Catalogue) -> bytes:
    """The pages of all numbers of `submission`, as JSON: for each its `path` below `/results/`, `front` and `body`.

    They change only with the submission, its suite and our own code, and are kept.
    """
    withdrawn = changes_page.withdrawn(submission.id, catalogue)
    name = names.machine_name(submission)
    made_from = ("number pages", page_code(), catalogue.suites_digest, submission.id, name, json.dumps(withdrawn))
    make = partial(_write_all, submission, replace(catalogue, edition=LATER_EDITION), withdrawn)
    return catalogue.kept.made(make, *made_from, submission.digest) if submission.digest else make()


def _write_all(submission: Submission, catalogue: Catalogue, withdrawn: Mapping[str, object]) -> bytes:
    tables = submission.blocks
    pages = [_write(one, tables[one.key], catalogue, withdrawn) for one in submission_page.with_numbers(submission)]
    return json.dumps(pages, ensure_ascii=False, separators=(",", ":")).encode()


def _write(one: Number, table: BlockTable, catalogue: Catalogue, withdrawn: Mapping[str, object]) -> dict[str, object]:
    submission = one.submission
    view = view_of_submission(submission, catalogue)
    folder, said = catalogue.by_suite.get(submission.suite), sentence(one, view)
    front = {
        "title": title(one, catalogue),
        "kind": "number",
        "kicker": f"{names.machine_name(submission)}, {names.date_words(submission.date)}",
        "description": said,
        **citing.front(citing.cite_number(one, catalogue)),
        **withdrawn,
    }
    if dots := block_dots(one, table):
        front["blocks"] = dots
    path = executed.executed_of(one)
    if path:
        front["icicles"] = {"event": executed.boxes(path.stacks)}
    body = render(
        "number.md.j2",
        one=one,
        path=path,
        executed=executed,
        table=table,
        events=units.trimmed(table.events),
        sentence=said,
        quantities=quantities(one, view),
        view=view,
        heads=[(column.id, column.label) for column in view.block_columns],
        script=script(folder, one),
        again=again(one),
        submission=submission,
        folder=folder,
        machine=names.machine_name(submission),
        machine_address=addresses.machine_of(submission),
        titles=catalogue.titles,
    )
    return {"path": one.id, "front": front, "body": body}


def block_dots(one: Number, table: BlockTable) -> dict[str, object] | None:
    """The places of its differences, of its estimate with the interval, and of 0 where it is among them; px.

    None for a number without differences, or with few.
    """
    blocks = [found for block in table.blocks if (found := table.differences(block))]
    ends = [end for end in one.cost or () if end is not None]
    values = sorted([*ends, *(value for found in blocks for value in found)])
    if len(blocks) < FEWEST or not ends or values[0] == values[-1]:
        return None

    def place(value: float) -> int:
        return round(EDGE + (value - values[0]) / (values[-1] - values[0]) * (WIDTH - 2 * EDGE))

    return {
        "width": WIDTH,
        "height": 2 * EDGE + ROW_HEIGHT * (len(blocks) - 1),
        "dots": [[place(value), EDGE + ROW_HEIGHT * line] for line, found in enumerate(blocks) for value in set(found)],
        "value": place(ends[0]),
        "interval": [place(min(ends)), place(max(ends))],
        "zero": place(0.0) if values[0] <= 0 <= values[-1] else None,
        "ends": [
            units.duration(end) if one.is_time else instructions.count(Estimate(end)) for end in (values[0], values[-1])
        ],
    }


def title(one: Number, catalogue: Catalogue) -> str:
    """`Uprobe with bpftrace v0.17.0, level 4`."""
    level = "" if one.level is None else f", level {one.level}"
    return f"{catalogue.titles.get(one.case, one.case)} with {names.tool_with_version(one)}{level}"


def sentence(one: Number, view: ResultView) -> str:
    """The number with its interval, and the machine that it is from."""
    return f"On {names.machine_name(one.submission)}, {view.said(one)}."


def quantities(one: Number, view: ResultView) -> list[NumberColumn]:
    """Every quantity that is known of a number, each with its anchor; what its type of result is about comes first."""
    return [line for line in view.quantities if line.words(one) not in {"", units.MISSING}]


def script(folder: SuiteFolder | None, one: Number) -> str | None:
    """Where the site has the script of the case for its tool, as it is today; None where there is none."""
    path = script_path(folder.folder, one.case, names.tool_of(one.tracer), level=one.level) if folder else None
    if folder is None or path is None:
        return None
    if not one.is_time:
        path = linux_form(path) or path  # emulated machines run Linux, which some scripts have a form of their own for
    return f"/scripts/{folder.suite.id}/{path.name}"


def again(one: Number) -> str:
    """The command that measures just this case with this tracer, as the run's own did."""
    run = one.submission.document.run
    words = ["probe-effect", "measure", run.suite]
    words += [word for name in ("--vm", "--arch", "--source") for word in _option(run.command, name)]
    words += ["--case", one.case, "--tracer", _tracer(run.command, one.tracer), "--blocks", str(run.blocks)]
    return " ".join(words)


def _option(command: Sequence[str], name: str) -> list[str]:
    """An option of the run's command with its value, where that is a plain word."""
    values = [value for option, value in pairwise(command) if option == name]
    return [name, values[0]] if values and is_plain_word(values[0]) else []


def _tracer(command: Sequence[str], tracer: str) -> str:
    """A tracer as `--tracer` takes it; another version is given by the path of its program."""
    tool = names.tool_of(tracer)
    if tool == tracer:
        return tracer
    path = next((word.partition("=")[2] for word in command if word.startswith(f"{tool}=")), "")
    # A bare name says nothing about where the other version lay.
    return f"{tool}={path}" if "/" in path and is_plain_word(path) else f"{tool}=PATH"
