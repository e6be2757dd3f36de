"""The page of a number: one case, tracer and level of one submission, its quantities, and the rows they are made of."""

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise

from markupsafe import Markup

from probe_effect import units
from probe_effect.costs.instructions import AddedPath
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
from probe_effect.numbers.rows import BlockTable
from probe_effect.numbers.submission import Number, Submission
from probe_effect.site.pages import addresses, changes_page, citing, instructions, links, parts, submission_page
from probe_effect.site.pages.parts import Heading, Items, Link, Part, Table, column, command, fragment, icicle
from probe_effect.site.pages.results import view_of_submission
from probe_effect.site.pages.results.view import NumberColumn, ResultView
from probe_effect.site.pages.text import is_plain_word, link, safe, say, together
from probe_effect.store.places import linux_form
from probe_effect.store.suite_file import script_path

WIDTH, ROW_HEIGHT, EDGE = 720, 5, 6  # of the drawing of blocks, of the line of a block, and free around them; px

FEWEST = 3  # blocks of a drawing: fewer are read from their table


def write_all(submission: Submission, catalogue: Catalogue) -> bytes:
    """The pages of all numbers of `submission`, as JSON: for each its `path` below `/results/`, `front` and `body`."""
    # They change only with the submission, its suite and our own code, and are kept.
    withdrawn = changes_page.withdrawn(submission.id, catalogue)
    name = names.machine_name(submission)
    made_from = ("number pages", parts.page_code(), catalogue.suites_digest, submission.id, name, json.dumps(withdrawn))

    def made() -> bytes:
        tables = submission.blocks
        pages = [
            _write(number, tables[number.key], catalogue.later, withdrawn)
            for number in submission_page.with_numbers(submission)
        ]
        return json.dumps(pages, ensure_ascii=False, separators=(",", ":")).encode()

    return catalogue.kept.made(made, *made_from, submission.digest) if submission.digest else made()


def _write(
    number: Number, table: BlockTable, catalogue: Catalogue, withdrawn: Mapping[str, object]
) -> dict[str, object]:
    submission = number.submission
    view = view_of_submission(submission, catalogue)
    says, level = sentence(number, view), "" if number.level is None else f", level {names.level(number.level)}"
    front = {
        "title": f"{number.title} with {names.tool_with_version(number)}{level}",
        "kind": "number",
        "kicker": f"{names.machine_name(submission)}, {names.date_words(submission.date)}",
        "description": says,
        "value": str(next((line.words(number) for line in quantities(number, view)), "")).partition(" (")[0],
        **citing.front(citing.cite_number(number, catalogue)),
        **withdrawn,
    }
    if dots := block_dots(number, table):
        front["blocks"] = dots
    path = instructions.executed_of(number)
    if path:
        front["icicles"] = {"event": instructions.boxes(path.stacks)}
    return {"path": number.id, "front": front, "body": fragment(_parts(number, table, catalogue, path))}


def _parts(number: Number, table: BlockTable, catalogue: Catalogue, path: AddedPath | None) -> Iterator[Part]:
    folder = catalogue.by_suite.get(number.submission.suite)
    view, samples = view_of_submission(number.submission, catalogue), _data(number, "samples.csv")
    yield sentence(number, view)
    yield number.note and say("To know before using it: {}.", number.note)
    if number.is_time:
        yield links.grade(number)
    elif number.faults:
        yield say("Neither ranked nor compared, because {}.", "; ".join(number.faults))
    lines = quantities(number, view)
    rows = [(link(own.head.label, addresses.column(own.id)), Link(own.text(number), f"#={own.id}")) for own in lines]
    yield Table((column("quantity"), column("value")), rows)
    if number.is_time and number.cost and number.cost.low is not None:
        yield say(
            "These intervals are of this run alone: [the next one]({}) may differ by more.",
            safe("/does-it-hold/#does-a-run-repeat-itself"),
        )
    if path:
        yield from _executed(path, number, table.events)
    yield Heading("The rows")
    heads = [column(own.id, own.label) for own in view.rows.columns]
    yield Table(heads, [[own.text(block, table) for own in view.rows.columns] for block in table.blocks])
    yield together(
        say("Lines are those of {}, whose header is line 1.", samples),
        view.rows.said.format(events=units.trimmed(table.events)),
    )
    yield from _reproduced(number, folder)
    yield Heading("Where it belongs")
    yield Items(list(_belongs(number, folder)))


def _data(number: Number, name: str) -> Markup:
    return link(name, f"/data/results/{number.submission.id}/{name}")


def _executed(path: AddedPath, number: Number, events: float) -> Iterator[Part]:
    yield Heading("What was executed", anchor="executed")
    yield say("{}.", instructions.sentence(path, events))
    yield icicle("event")
    yield instructions.table(path, number.submission)
    kinds = instructions.kinds(path)
    how = "[The method](/method/instructions/#what-one-event-executes) says how it was recorded; {} has every stack."
    yield together(
        kinds and say("What a count hides, among them: {}.", kinds),
        *(say("{}.", text[0].upper() + text[1:]) for text in instructions.agreement(path)),
        say(how, _data(number, "paths.csv")),
    )


def _reproduced(number: Number, folder: SuiteFolder | None) -> Iterator[Part]:
    run, words = number.submission.document.run, again(number)
    yield Heading("Reproduce", anchor="make-it-again")
    yield say("[The command](#=reproduce) for this case alone, with this tracer and as many blocks:")
    yield command(words.split())
    where = "PATH is where that version of the program lies." if "=PATH" in words else ""
    yield together(where, "It was made by a run of more:")
    yield command(run.command)
    ran, now, path = run.suite_version, folder.suite.version if folder else None, script(folder, number)
    since, of = ", as it is today", ""
    if now != ran:
        since = say(", which is at version {} now, so its script may have changed", now) if folder else ""
        of = say(" of version {}", now)
    script_said = say(": {}", link(say("the script{}", of), path)) if path else ""
    log = say("`git log -p data/suites/{}` in the repository shows what changed since.", safe(run.suite))
    what = say("It ran version {} of the suite{}{}.", ran, since, script_said)
    yield together(what, folder and now != ran and log)


def _belongs(number: Number, folder: SuiteFolder | None) -> Iterator[Markup]:
    submission, results = number.submission, f"/results/{number.submission.id}"
    printed = submission.document.tools.get(number.tracer)
    yield say("Case: {}, on all machines and with all tracers.", links.case(number.case, number.title))
    done = "measured" if number.is_time else "counted"
    yield say("Run: {}, everything that was {} with it.", links.run(submission), done)
    yield say("Machine: {}.", links.machine(submission))
    calls_itself = say(", which calls itself “{}”", printed) if printed else ""
    yield say("Tracer: {}{}.", links.tracer(number.tracer, names.tool(number.tracer, printed)), calls_itself)
    yield say("Suite: {}.", links.suite(submission.suite, folder.suite.title if folder else None))
    yield say(
        "Data: {}, {}; all numbers of the run as {} and {}.",
        *(_data(number, name) for name in ("samples.csv", "machine.json")),
        link("CSV", f"{results}/data.csv"),
        link("JSON", f"{results}/data.json"),
    )


def block_dots(number: Number, table: BlockTable) -> dict[str, object] | None:
    """The places of its differences, of its estimate with the interval, and of 0 where it is among them; px.

    None for a number without differences, or with few.
    """
    blocks = [own for block in table.blocks if (own := table.differences(block))]
    ends = [end for end in number.cost or () if end is not None]
    values = sorted([*ends, *(value for own in blocks for value in own)])
    if len(blocks) < FEWEST or not ends or values[0] == values[-1]:
        return None

    def place(value: float) -> int:
        return round(EDGE + (value - values[0]) / (values[-1] - values[0]) * (WIDTH - 2 * EDGE))

    extremes = values[0], values[-1]
    return {
        "width": WIDTH,
        "height": 2 * EDGE + ROW_HEIGHT * (len(blocks) - 1),
        "dots": [[place(value), EDGE + ROW_HEIGHT * line] for line, own in enumerate(blocks) for value in set(own)],
        "value": place(ends[0]),
        "interval": [place(min(ends)), place(max(ends))],
        "zero": place(0.0) if values[0] <= 0 <= values[-1] else None,
        "ends": [units.duration(end) if number.is_time else instructions.count(Estimate(end)) for end in extremes],
    }


def sentence(number: Number, view: ResultView) -> str:
    """The number with its interval, and the machine that it is from."""
    return f"On {names.machine_name(number.submission)}, {view.said(number)}."


def quantities(number: Number, view: ResultView) -> list[NumberColumn]:
    """Every quantity that is known of a number, each with its anchor; what its type of result is about comes first."""
    return [line for line in view.quantities if line.words(number) not in {"", units.MISSING}]


def script(folder: SuiteFolder | None, number: Number) -> str | None:
    """Where the site has the script of the case for its tool, as it is today; None where there is none."""
    path = script_path(folder.folder, number.case, names.tool_of(number.tracer), level=number.level) if folder else None
    if folder is None or path is None:
        return None
    # Emulated machines run Linux, which some scripts have a form of their own for.
    own = None if number.is_time else linux_form(path)
    return f"/scripts/{folder.suite.id}/{(own or path).name}"


def again(number: Number) -> str:
    """The command that measures just this case with this tracer, as the run's own did."""
    run = number.submission.document.run
    words = ["probe-effect", "measure", run.suite]
    for name in ("--vm", "--arch", "--source"):
        values = [value for option, value in pairwise(run.command) if option == name]
        words += [name, values[0]] if values and is_plain_word(values[0]) else []
    tracer, tool = number.tracer, names.tool_of(number.tracer)
    if tool != tracer:  # another version is given by the path of its program; a bare name does not say where that lay
        path = next((word.partition("=")[2] for word in run.command if word.startswith(f"{tool}=")), "")
        tracer = f"{tool}={path}" if "/" in path and is_plain_word(path) else f"{tool}=PATH"
    return " ".join([*words, "--case", number.case, "--tracer", tracer, "--blocks", str(run.blocks)])
