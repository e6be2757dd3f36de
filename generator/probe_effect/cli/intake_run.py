"""What `probe-effect review` and `submit` do with a change of the data: show it, look for names, and send it."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypedDict

import click
from rich.text import Text

from probe_effect import units
from probe_effect.checks import run as checks
from probe_effect.checks.beside import change_size
from probe_effect.checks.rule import broken, names_in
from probe_effect.checks.run import new_problems
from probe_effect.cli import output
from probe_effect.cli.data_options import credited
from probe_effect.cli.output import console, show_section, show_table
from probe_effect.compare.subjects import Nearest, nearest
from probe_effect.host import typed
from probe_effect.host.ownership import demand_owner
from probe_effect.intake import pull_request as branches
from probe_effect.intake.bundle import (
    IN_REPOSITORY,
    Item,
    SubmissionBundle,
    find_private,
    lay_out,
    marks_of_host,
    read_bundles,
)
from probe_effect.intake.changes import over_releases, report_of, with_data
from probe_effect.intake.pull_request import Step
from probe_effect.intake.report import MAX_REPORT_BYTES, ReviewReport, annotate, fitted
from probe_effect.intake.revisions import State
from probe_effect.intake.sections import MAX_COMMENT_BYTES, MAX_SUMMARY_BYTES, github_text, markdown, sections
from probe_effect.measure.submission import command_to_go_on
from probe_effect.model import BadData, Problem, UsageError
from probe_effect.numbers.catalogue import read_catalogue, read_numbers, read_submission
from probe_effect.numbers.submission import Number, Submission, remedies
from probe_effect.site.pages import comparison, instructions
from probe_effect.site.pages.machine_page import facts
from probe_effect.store.documents import read_document
from probe_effect.store.places import OWN_FOLDER, PACKAGED, DataFolder, SubmissionFolder
from probe_effect.store.release_file import difference
from probe_effect.store.tables import printable


def review(base: State, head: State, output_format: str, report_file: Path | None, summary_file: Path | None) -> bool:
    """Print what `head` would change in `base`, and write it; whether it is free of new errors. Raises: BadData."""
    report, problems = _report(base, head)
    json = fitted(report, ReviewReport.model_dump_json, MAX_REPORT_BYTES)
    page = fitted(report, markdown, MAX_SUMMARY_BYTES)
    if output_format == "json":
        output.product(json)
    elif output_format == "markdown":
        output.product(page)
    elif output_format == "github":
        # The log has every problem, and GitHub's list of annotations each fault once.
        output.show_problems(problems)
        for line in annotate(problems):
            output.product(line)
        errors = sum(problem.severity == "error" for problem in problems)
        output.product(f"{errors} new errors, {len(problems) - errors} new warnings")
    else:
        _show(report)
    # At the end, so that a review that fails leaves no file that only looks like one.
    if report_file:
        report_file.parent.mkdir(parents=True, exist_ok=True)
        report_file.write_text(json + "\n", encoding="utf-8")
    if summary_file:
        with summary_file.open("a", encoding="utf-8") as file:
            file.write(page)
    return not report.errors


def _show(report: ReviewReport) -> None:
    for section in sections(report):
        console().print(Text(section.title, style="bold"))
        for line in section.lines:
            console().print(Text(line))
        if section.rows:
            show_table(section.head, (), section.rows)
        if section.head and section.more:
            output.product(f"{section.more} more")
        output.product("")


def comment(file: Path, commit: str | None, run: str | None) -> None:
    if run is not None and not re.fullmatch(r"https://[\w.-]+(:\d+)?/[\w.-]+/[\w.-]+/actions/runs/\d+", run):
        msg = f"{printable(run)}: is no address of a run. Expected one such as https://github.com/o/r/actions/runs/1."
        raise UsageError(msg)
    report, problems = read_document(file, file.name, "review", ReviewReport, MAX_REPORT_BYTES)
    if report is None:
        raise BadData(problems)
    if commit is not None:
        report = report.model_copy(update={"head": f"commit {printable(commit)}"})
    output.product(fitted(report, partial(markdown, run=run), MAX_COMMENT_BYTES))


def _report(base: State, head: State) -> tuple[ReviewReport, Sequence[Problem]]:
    files = difference(base.data, head.data)
    if too_many := broken([change_size], files, names_in(head.data.root, head.data)):
        return report_of(files, too_many, base.name, head.name), too_many
    of_state, of_change = new_problems(files)
    errors_first = sorted((*of_change, *of_state), key=lambda data_problem: data_problem.severity != "error")
    refused = tuple(refusal for refusal in head.refused if refusal not in base.refused)
    unread = {refusal.file for refusal in head.refused}  # were not taken over, so that they seem to be missing
    problems = (*refused, *(data_problem for data_problem in errors_first if data_problem.file not in unread))
    # The submissions and sources with an error, by id; both are the first names below their folder.
    unsound, depths = set(), {"results": 2, "published": 1}
    for problem in of_state:
        _, part, *names = f"{problem.file}//".split("/")
        if problem.severity == "error" and part in depths:
            unsound.add("/".join(names[: depths[part]]))
    of_files = report_of(files, problems, base.name, head.name)
    return with_data(of_files, read_catalogue(base.data), head.data, files, unsound), problems


def show_numbers(items: Sequence[Item], data: DataFolder, checkout: Path | None) -> None:
    """On the side, the numbers of each of `items` against those of the nearest machine, and their grades.

    Outside a clone they are compared with the data that came with the program. What cannot be read is said, and stops
    nothing: the check has passed before.
    """
    ours, published = {item.submission.id for item in items}, data if checkout else DataFolder(PACKAGED, data.kept)
    complete = [
        submission
        for submission in published.submissions()
        if submission.id not in ours and not submission.plan_file.exists()
    ]
    others: Sequence[Submission] = ()
    try:
        others = read_numbers(published, complete).active
    except BadData as error:
        why = error.problems[0].message
        output.say(f"{published.root}: cannot be read, so there is nothing to compare with: {why}")
    read = (read_submission(item.submission, data, []) for item in items)
    submissions = [submission for submission in read if submission is not None]
    for submission in submissions:
        if measured := [number for number in submission.numbers if number.cost is not None]:
            other = nearest(submission, others)
            show_section(f"{submission.id}: cost of one event", _table(measured, other), aside=True)
            show_section("Against the nearest machine", _against(other), aside=True)
    # Each reason once, with what would better it; a count of instructions has no grade.
    graded = [submission for submission in submissions if submission.grade]
    grades = [(submission.grade or "", submission.files.folder.name) for submission in graded]
    for reason, remedy in remedies(
        dict.fromkeys(reason for submission in graded for reason in submission.grade_reasons)
    ):
        grades += [("because", reason), ("", f"better: {remedy}")]
    show_section("Grades, and what would better them", grades, aside=True)


def _table(numbers: Iterable[Number], other: Nearest | None) -> Iterator[tuple[str, ...]]:
    """A row for each number, below a row for each tracer, so that it fits a terminal of 80 columns."""
    compared = {matched_pair.second.key: matched_pair for matched_pair in other.comparisons} if other else {}
    yield "", "here", "there" if compared else "", "difference (95 %)" if compared else ""
    tracer = None
    for number in sorted(numbers, key=lambda number: (number.tracer, number.key.order)):
        if number.tracer != tracer:
            tracer = number.tracer
            yield f"with {tracer}", "", "", ""
        there = change = ""
        if (pair := compared.get(number.key)) is not None:
            there, change = _brief(pair.first), pair.outcome
            if pair.is_clear:
                change = comparison.cells(pair)[0] if number.is_time else instructions.change(pair)
        yield number.case if number.level is None else f"{number.case} ({number.level})", _brief(number), there, change


def _brief(number: Number) -> str:
    assert number.cost is not None
    if not number.is_time:
        return units.quantity(number.cost.value, units.INSTRUCTIONS)
    if number.distinguishable is False:
        return f"< {units.duration(number.time.noise_floor_ns, 2)}"
    return units.value(number.cost, units.DURATION)


def _against(other: Nearest | None) -> Iterator[tuple[str, str]]:
    if other is None:
        yield "there", "no published machine has such numbers"
        return
    yield "there", other.likeness.name
    yield "its kind", ", ".join(other.likeness.reasons)
    if not other.likeness.comparable:
        yield "in all", "times of such different machines are never compared"
    elif other.comparisons and other.comparisons[0].first.is_time:
        yield "in all", comparison.summary(other.comparisons, "here")


def send(
    bundles: Sequence[SubmissionBundle], data: DataFolder, checkout: Path | None, remote: str | None, *, here: bool
) -> None:
    """Write the credits, and take the bundles as far as they go; the product is where they are then.

    `here`: whether the repository that was cloned takes the pull request, and not what it was forked from.
    """
    items = [item for bundle in bundles for item in bundle.items]
    for item in items:
        item.save()
    if checkout is None:
        root = Path.cwd() / OWN_FOLDER
        lay_out(items, root)
        _show_steps(branches.steps_from_folder(root, branches.installed_from()))
        output.product(str(root))
        return
    cloned = None if remote else branches.origin(checkout)
    upstream = None
    if cloned and branches.is_logged_in(cloned, checkout):  # else the pull request is made by hand
        upstream = cloned if here else branches.upstream_of(cloned, checkout)
    for bundle in bundles:
        branch = _branch(bundle, checkout, upstream.git if upstream else remote)
        if upstream:
            output.product(branches.send(bundle, branch, upstream, checkout, _body(bundle, data)))
            continue
        if remote:
            branches.push(checkout, remote, branch)
        else:
            _show_steps(branches.steps_from_branch(branch, cloned))
        output.product(branch.name)


def _show_steps(todo: Iterable[Step]) -> None:
    """What is left to be done by hand; each command is whole on a line of its own, so that it can be copied."""
    output.say("To send it")
    for number, (purpose, command) in enumerate(todo, start=1):
        output.say(f"  {number}. {purpose}:\n     {command}")


def _branch(bundle: SubmissionBundle, checkout: Path, remote: str | None) -> branches.Branch:
    base = branches.fetched_base(checkout, remote) if remote else branches.local_base(checkout)
    branch = branches.make_branch(bundle, checkout, base, remote)
    output.say(f"{'made' if branch.is_new else 'there already'}: branch {branch.name}")
    output.say(f"to see what it holds:\n  git show --stat {branch.name}")
    # git leaves no branch, and goes to none, over files that it does not track
    adding = " ".join(["git add", *(f":/{IN_REPOSITORY}/{item.submission.id}" for item in bundle.items)])
    output.say(f"to go to it, have git know that the files are here too:\n  {adding} && git checkout {branch.name}")
    return branch


def _body(bundle: SubmissionBundle, data: DataFolder) -> str:
    """The text of the pull request: ids, and what counts change in the series over releases.

    The latter is escaped, so that nothing in it can mean anything, and missing where other data cannot be read.
    """
    folders = "".join(f"- `data/results/{item.submission.id}`\n" for item in bundle.items)
    ours = {item.submission.id for item in bundle.items if item.document.run.metric == "instructions"}
    changes: list[str] = []
    with suppress(BadData):  # which `show_numbers` has said
        catalogue = read_numbers(
            data, [submission for submission in data.submissions() if not submission.plan_file.exists()] if ours else []
        )
        changes = [
            line
            for submission in catalogue.active
            if submission.id in ours
            for line in over_releases(submission, catalogue)
        ]
    told = "".join(f"- {github_text(line)}\n" for line in changes)
    return f"Measured with `probe-effect`, and sound by `probe-effect check`:\n\n{folders}\n{told}"


class SubmitOptions(TypedDict):
    """How it is to be done, as the command line has it."""

    name: str | None
    nameless: bool
    remote: str | None
    here: bool
    dry_run: bool
    yes: bool
    allowed: Sequence[str]


def run_submit(folders: Sequence[Path], data: DataFolder, options: SubmitOptions) -> None:
    """Propose the submissions in `folders`, or all that are not published yet. Raises: BadData, UsageError."""
    credited(options["name"], None)
    checkout = branches.checkout_of(data.root)
    if options["remote"] and checkout is None:
        msg = f"{data.root}: is in no clone, so nothing can be pushed. Clone the repository, or do without --remote."
        raise UsageError(msg)
    asks = sys.stdin.isatty() and not options["dry_run"]
    bundles = _bundles(folders, data, checkout)
    if not bundles:
        output.say(f"{data.results}: all in it is published already")
        return
    for bundle in bundles:
        # On the side, all that one pull request makes public.
        files = [(item.submission.folder.name, path) for item in bundle.items for path in item.files()]
        sizes = [(units.size(path.stat().st_size), f"{folder}/{path.name}") for folder, path in files]
        show_section(f"What will be published, in {IN_REPOSITORY}/{bundle.machine}", sizes, aside=True)
        newest = max(bundle.items, key=lambda item: item.document.run.started)
        show_section("The machine, as its page will show it", facts(newest.document).items(), aside=True)
        show_numbers(bundle.items, data, checkout)
    marks, allowed = marks_of_host(), (*options["allowed"], options["name"] or "")
    if problems := find_private(
        [item for machine_bundle in bundles for item in machine_bundle.items], marks, allowed, data
    ):
        raise BadData(problems)
    bundles = _with_credits(bundles, options, asks=asks)
    names = ", ".join(
        dict.fromkeys(item.credit for machine_bundle in bundles for item in machine_bundle.items if item.credit)
    )
    author = branches.author(checkout) if checkout else None
    rows = [
        ("credit", names or "none; --name gives one"),
        *([("author of the commit", author)] if author else []),
        ("never recorded", "host names, user names, folders of users, addresses, serial numbers"),
        ("looked for in the files", f"{len(marks)} names and numbers of this machine; none is in them"),
    ]
    show_section("You", rows, aside=True)
    if checkout is not None:
        demand_owner(checkout)
    if options["dry_run"]:
        for bundle in bundles:
            output.product(bundle.branch if checkout else f"{OWN_FOLDER}/data/results/{bundle.machine}")
        output.say("nothing was changed")
        return
    if asks and not options["yes"]:
        click.confirm("Go on?", default=True, abort=True, err=True)
    send(bundles, data, checkout, options["remote"], here=options["here"])


def _with_credits(bundles: list[SubmissionBundle], options: SubmitOptions, *, asks: bool) -> list[SubmissionBundle]:
    if options["name"] is not None or options["nameless"]:
        return [bundle.credited(options["name"]) for bundle in bundles]
    if asks and not any(item.credit for bundle in bundles for item in bundle.items):
        answer = click.prompt("Name to credit (none: leave it empty)", default="", show_default=False, err=True)
        name = credited(answer.strip() or None, None).name
        return [bundle.credited(name) for bundle in bundles]
    return bundles


def _bundles(folders: Sequence[Path], data: DataFolder, checkout: Path | None) -> list[SubmissionBundle]:
    chosen = _named(folders) if folders else _unpublished(data, checkout)
    problems = []
    for submission in chosen:
        # Outside a clone it is compared with the data around it, for ours may have its copy.
        is_ours = checkout or submission.folder.is_relative_to(data.root)
        problems += checks.check(
            [submission.folder], data if is_ours else DataFolder(submission.folder.parents[2], data.kept)
        )
    if any(problem.severity == "error" for problem in problems):
        raise BadData(problems)
    output.show_problems(problems)
    return read_bundles(chosen, data)


def _named(folders: Sequence[Path]) -> list[SubmissionFolder]:
    submissions = [
        SubmissionFolder(path.parent)
        for folder in folders
        for path in sorted(folder.resolve().rglob(SubmissionFolder(folder).machine_file.name))
    ]
    if not submissions:
        expected = "a folder such as the one that `probe-effect measure` prints"
        raise UsageError(f"{folders[0]}: holds no submission. Expected {expected}.")
    return list(dict.fromkeys(submissions))


def _unpublished(data: DataFolder, checkout: Path | None) -> list[SubmissionFolder]:
    base = branches.published(checkout, branches.local_base(checkout)) if checkout else set()
    own = [submission for submission in data.submissions() if submission.id not in base]
    unfinished = [submission for submission in own if submission.plan_file.exists()]
    complete = [submission for submission in own if submission not in unfinished]
    for submission in unfinished:
        output.say(f"left out: {submission.folder} is not complete; to go on with it: {command_to_go_on(submission)}")
    if not complete and (unfinished or not base):
        raise UsageError(f"{data.results}: holds nothing that is complete. Measure first: {typed('measure')}")
    return complete
