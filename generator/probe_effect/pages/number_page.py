"""The page of a number: one case, tracer and level of one submission, its quantities, and the rows they are made of."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from probe_effect import units
from probe_effect.numbers import names
from probe_effect.numbers.citation import LATER_EDITION
from probe_effect.pages import addresses, changes_page, citing, instructions, submission_page, wording
from probe_effect.pages.markdown import is_plain_word, page_code, render
from probe_effect.reduce.thresholds import THRESHOLDS
from probe_effect.store.script_forms import linux_form
from probe_effect.store.suite_file import script_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
    from probe_effect.reduce.blocks import Block, BlockTable
    from probe_effect.reduce.submission import Number, Submission

DIGITS = 7
"""Of a run over its operations: enough to come to the same estimate by hand."""

STARTS_COUNTED = ("start-instructions", "stop-instructions")
"""The columns of a count of which a run's start and stop are."""


class Line(NamedTuple):
    """One quantity: the column that explains it, whose id is its anchor too, its value in words, and another label."""

    column: str
    text: str
    label: str | None = None


def write_all(submission: Submission, catalogue: Catalogue) -> bytes:
    """The pages of all numbers of `submission`, as JSON: for each its `path` below `/results/`, `front` and `body`.

    They change only with the submission, its suite and our own code, and are kept.
    """
    withdrawn = changes_page.withdrawn(submission.id, catalogue)
    made_from = ("number pages", page_code(), catalogue.suites_digest, submission.id, json.dumps(withdrawn))
    make = partial(_write_all, submission, replace(catalogue, edition=LATER_EDITION), withdrawn)
    return catalogue.kept.made(make, *made_from, submission.digest) if submission.digest else make()


def _write_all(submission: Submission, catalogue: Catalogue, withdrawn: Mapping[str, object]) -> bytes:
    tables = submission.blocks
    pages = [_write(one, tables[one.key], catalogue, withdrawn) for one in submission_page.with_numbers(submission)]
    return json.dumps(pages, ensure_ascii=False, separators=(",", ":")).encode()


def _write(one: Number, table: BlockTable, catalogue: Catalogue, withdrawn: Mapping[str, object]) -> dict[str, object]:
    submission = one.submission
    measures = submission_page.measures(submission_page.suite_of(submission, catalogue))
    folder, said = catalogue.by_suite.get(submission.suite), sentence(one, measures)
    front = {
        "title": title(one, catalogue),
        "kind": "number",
        "kicker": f"{names.machine_label(submission)}, {names.date_words(submission.date)}",
        "description": said,
        **citing.front(citing.cite_number(one, catalogue)),
        **withdrawn,
    }
    body = render(
        "number.md.j2",
        one=one,
        table=table,
        events=units.trimmed(table.events),
        sentence=said,
        quantities=quantities(one, measures),
        script=script(folder, one),
        again=again(one),
        submission=submission,
        folder=folder,
        machine=names.machine_label(submission),
        machine_address=addresses.machine_of(submission),
        titles=catalogue.titles,
        digits=digits,
    )
    return {"path": one.id, "front": front, "body": body}


def title(one: Number, catalogue: Catalogue) -> str:
    """`Uprobe with bpftrace v0.17.0, level 4`."""
    level = "" if one.level is None else f", level {one.level}"
    return f"{catalogue.titles.get(one.case, one.case)} with {names.tool_with_version(one)}{level}"


def sentence(one: Number, measures: str) -> str:
    """The number with its interval, and where it was found; `measures`: what its suite is about."""
    where = f"On {names.machine_label(one.submission)}"
    if measures == "start" and one.attach is not None:
        start, stop = wording.start_and_stop(one)
        unit = "" if one.is_time else " instructions"
        return f"{where}, it takes {start}{unit} until the probes are live, and {stop}{unit} to stop."
    if not one.is_time:
        return f"{where}, tracing adds {instructions.count(one.cost)} instructions to one event."
    if one.tracer_cpu is not None:
        return f"{where}, the tool itself takes {wording.own_use(one)[0]} of CPU time for an operation."
    if one.distinguishable is False:
        return f"{where}, the cost of one event is {wording.cost(one)}."
    interval = "" if one.cost is None or one.cost.low is None else ", with the 95 % interval in brackets"
    if measures == "slowdown":
        longer = f"the work takes {wording.slowdown(one)} longer{interval}"
        return f"{where}, {longer}; that is {wording.cost(one)} for each event."
    return f"{where}, tracing adds {wording.cost(one)} to one event{interval}."


def quantities(one: Number, measures: str) -> list[Line]:
    """Every quantity that is known of a number, each with its anchor; what its suite `measures` comes first.

    A rate at which one busy thread slows says nothing of a whole work.
    """
    of = _uses if one.tracer_cpu is not None else _times if one.is_time else _counts
    known = [line for line in of(one) if line.text != units.MISSING]
    if measures == "slowdown":
        known = [line for line in known if not line.column.startswith("threshold-")]
    first = {"start": {"start", "stop", *STARTS_COUNTED}, "slowdown": {"slowdown", "probes"}}.get(measures, set())
    return sorted(known, key=lambda line: line.column not in first)


def _times(one: Number) -> Iterator[Line]:
    yield Line("cost", wording.cost(one))
    for percent, rate in zip(THRESHOLDS, wording.thresholds(one), strict=True):
        yield Line(f"threshold-{percent}", rate, f"Slows a busy thread by {percent} % at")
    yield Line("slowdown", wording.slowdown(one))
    yield Line("fastest", units.duration(one.fastest_ns))
    yield Line("baseline", units.duration(one.baseline.value if one.baseline else None))
    yield Line("noise-floor", units.duration(one.noise_floor_ns, 2))
    yield Line("traced-rate", units.rate(one.rate_hz))
    yield Line("loss", units.percent(one.loss_ratio))
    for name, time in zip(("start", "stop"), wording.start_and_stop(one), strict=True):
        yield Line(name, time)
    for name, used in zip(("tracer-cpu", "tracer-memory"), wording.own_use(one), strict=True):
        yield Line(name, used)
    yield Line("probes", units.count(one.probes))
    yield Line("blocks", units.count(one.blocks))


def _uses(one: Number) -> Iterator[Line]:
    for name, text in zip(("tracer-cpu", "tracer-memory", "tracer-calls"), wording.own_use(one), strict=True):
        yield Line(name, text)
    yield Line("blocks", units.count(one.blocks))


def _counts(one: Number) -> Iterator[Line]:
    yield Line("instructions", instructions.added(one))
    yield Line("untraced-share", instructions.share(one))
    yield Line("baseline", instructions.count(one.baseline))
    yield Line("loss", units.percent(one.loss_ratio))
    yield Line("mechanism", one.mechanism or units.MISSING)
    for name, text in zip(STARTS_COUNTED, wording.start_and_stop(one), strict=True):
        yield Line(name, text)
    yield Line("probes", units.count(one.probes))
    yield Line("blocks", units.count(one.blocks))


def digits(block: Block, values: Iterable[float]) -> str:
    """Values of a block, all to the place that its longest run has in `DIGITS` digits."""
    longest = max((*block.untraced, block.traced or 0.0, block.own or 0.0), default=0.0)
    place = units.exponent(longest) - DIGITS + 1 if longest else 0
    return "; ".join(units.at_place(value, place) for value in values)


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
