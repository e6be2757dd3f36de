"""What `probe-effect review` and `submit` do with a change of the data: show it, look for names, and send it."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypedDict

import click
from rich.text import Text

from probe_effect import units
from probe_effect.checks import run as checks
from probe_effect.checks.changes import change_size
from probe_effect.checks.rule import broken, names_in
from probe_effect.checks.run import new_problems
from probe_effect.cli import output
from probe_effect.cli.data_options import credited
from probe_effect.cli.tables import console, show_section, show_table
from probe_effect.compare.comparison import Comparison
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
from probe_effect.numbers.catalogue import read_catalogue, read_numbers
from probe_effect.numbers.reading import read_submission
from probe_effect.numbers.submission import Number, Submission, remedies
from probe_effect.site.pages import comparison, instructions
from probe_effect.site.pages.machine_page import facts
from probe_effect.store.documents import read_document
from probe_effect.store.places import OWN_FOLDER, PACKAGED, DataFolder, SubmissionFolder
from probe_effect.store.release_file import difference
from probe_effect.store.tables import printable

RUN = re.compile(r"https://[\w.-]+(:\d+)?/[\w.-]+/[\w.-]+/actions/runs/\d+")


def review(base: State, head: State, output_format: str, report_file: Path | None, summary_file: Path | None) -> bool:
    """Print what `head` would change in `base`, and write it; whether it is free of new errors. Raises: BadData."""
    found, problems = _found(base, head)
    if output_format == "json":
        output.product(_json(found))
    elif output_format == "markdown":
        output.product(_markdown(found))
    elif output_format == "github":
        # The log has every problem, and GitHub's list of annotations each fault once.
        output.show_problems(problems)
        for line in annotate(problems):
            output.product(line)
        errors = sum(problem.severity == "error" for problem in problems)
        output.product(f"{errors} new errors, {len(problems) - errors} new warnings")
    else:
        _show(found)
    # At the end, so that a review that fails leaves no file that only looks like one.
    if report_file:
        report_file.parent.mkdir(parents=True, exist_ok=True)
        report_file.write_text(_json(found) + "\n", encoding="utf-8")
    if summary_file:
        with summary_file.open("a", encoding="utf-8") as file:
            file.write(_markdown(found))
    return not found.errors


def comment(file: Path, commit: str | None, run: str | None) -> None:
    """Print a comment made of a review as JSON. Raises: BadData where the file is none, UsageError."""
    if run is not None and not RUN.fullmatch(run):
        msg = f"{printable(run)}: is no address of a run. Expected one such as https://github.com/o/r/actions/runs/1."
        raise UsageError(msg)
    found, problems = read_document(file, file.name, "review", ReviewReport, MAX_REPORT_BYTES)
    if found is None:
        raise BadData(problems)
    if commit is not None:
        found = found.model_copy(update={"head": f"commit {printable(commit)}"})
    output.product(fitted(found, partial(markdown, run=run), MAX_COMMENT_BYTES))


def _found(base: State, head: State) -> tuple[ReviewReport, Sequence[Problem]]:
    """The review, and all problems that it tells in groups."""
    files = difference(base.data, head.data)
    if too_many := broken([change_size], files, names_in(head.data.root, head.data)):
        return report_of(files, too_many, base.name, head.name), too_many
    of_state, of_change = new_problems(files)
    errors_first = sorted((*of_change, *of_state), key=lambda one: one.severity != "error")
    refused = tuple(one for one in head.refused if one not in base.refused)
    unread = {one.file for one in head.refused}  # were not taken over, so that they seem to be missing
    problems = (*refused, *(one for one in errors_first if one.file not in unread))
    of_files = report_of(files, problems, base.name, head.name)
    return with_data(of_files, read_catalogue(base.data), head.data, files, _unsound(of_state)), problems


def _json(found: ReviewReport) -> str:
    return fitted(found, ReviewReport.model_dump_json, MAX_REPORT_BYTES)


def _markdown(found: ReviewReport) -> str:
    return fitted(found, markdown, MAX_SUMMARY_BYTES)


def _unsound(problems: Iterable[Problem]) -> set[str]:
    """The submissions and sources with an error, by id; both are the first names below their folder."""
    depths = {"results": 2, "published": 1}
    found = set()
    for problem in problems:
        _, part, *names = f"{problem.file}//".split("/")
        if problem.severity == "error" and part in depths:
            found.add("/".join(names[: depths[part]]))
    return found


def _show(found: ReviewReport) -> None:
    for section in sections(found):
        console().print(Text(section.title, style="bold"))
        for line in section.lines:
            console().print(Text(line))
        if section.rows:
            show_table(section.head, (), section.rows)
        if section.head and section.more:
            output.product(f"{section.more} more")
        output.product("")


def show_numbers(items: Sequence[Item], data: DataFolder, checkout: Path | None) -> None:
    """On the side, the numbers of each of `items` against those of the nearest machine, and their grades.

    Outside a clone they are compared with the data that came with the program. What cannot be read is said, and stops
    nothing: the check has passed before.
    """
    known = _published(items, data if checkout else DataFolder(PACKAGED, data.kept))
    read = (read_submission(item.submission, data, []) for item in items)
    submissions = [one for one in read if one is not None]
    for one in submissions:
        _show_beside(one, known)
    show_section("Grades, and what would better them", _grades(submissions), aside=True)


def series_list(items: Iterable[Item], data: DataFolder) -> str:
    """What the counts among `items` change in the series over releases, as a list in Markdown.

    It is empty where other data cannot be read, which `show_numbers` has said.
    """
    ours = {item.submission.id for item in items if item.document.run.metric == "instructions"}
    try:
        known = read_numbers(data, [one for one in data.submissions() if not one.plan_file.exists()] if ours else [])
    except BadData:
        return ""
    lines = (line for one in known.active if one.id in ours for line in over_releases(one, known))
    return "".join(f"- {github_text(line)}\n" for line in lines)


def _published(items: Iterable[Item], data: DataFolder) -> Sequence[Submission]:
    """What there is to compare with: all that is complete, without what is to be sent."""
    ours = {item.submission.id for item in items}
    complete = [one for one in data.submissions() if one.id not in ours and not one.plan_file.exists()]
    try:
        return read_numbers(data, complete).active
    except BadData as error:
        output.say(f"{data.root}: cannot be read, so there is nothing to compare with: {error.problems[0].message}")
        return ()


def _show_beside(submission: Submission, known: Sequence[Submission]) -> None:
    measured = [one for one in submission.numbers if one.cost is not None]
    if measured:
        found = nearest(submission, known)
        show_section(f"{submission.id}: cost of one event", _table(measured, found), aside=True)
        show_section("Against the nearest machine", _against(found), aside=True)


def _grades(submissions: Iterable[Submission]) -> Iterator[tuple[str, str]]:
    """The grade of each, then each reason once, with what would better it; a count of instructions has none."""
    graded = [one for one in submissions if one.grade]
    yield from ((one.grade or "", one.files.folder.name) for one in graded)
    for reason, remedy in remedies(dict.fromkeys(reason for one in graded for reason in one.grade_reasons)):
        yield "because", reason
        yield "", f"better: {remedy}"


def _table(numbers: Iterable[Number], found: Nearest | None) -> Iterator[tuple[str, ...]]:
    """A row for each number, below a row for each tracer, so that it fits a terminal of 80 columns."""
    compared = {one.second.key: one for one in found.comparisons} if found else {}
    yield "", "here", "there" if compared else "", "difference (95 %)" if compared else ""
    tracer = None
    for one in sorted(numbers, key=lambda one: (one.tracer, one.key.order)):
        if one.tracer != tracer:
            tracer = one.tracer
            yield f"with {tracer}", "", "", ""
        yield (one.case if one.level is None else f"{one.case} ({one.level})", *_cells(one, compared.get(one.key)))


def _cells(here: Number, found: Comparison | None) -> tuple[str, str, str]:
    if found is None:
        return _brief(here), "", ""
    if not found.is_clear:
        return _brief(here), _brief(found.first), found.outcome
    return _brief(here), _brief(found.first), comparison.cells(found)[0] if here.is_time else instructions.change(found)


def _brief(one: Number) -> str:
    """The cost without its interval, which the page has."""
    assert one.cost is not None
    if not one.is_time:
        return units.quantity(one.cost.value, units.INSTRUCTIONS)
    if one.distinguishable is False:
        return f"< {units.duration(one.time.noise_floor_ns, 2)}"
    return units.value(one.cost, units.DURATION)


def _against(found: Nearest | None) -> Iterator[tuple[str, str]]:
    """The machine that it is compared with and why, and a summary of the comparisons."""
    if found is None:
        yield "there", "no published machine has such numbers"
        return
    yield "there", found.likeness.name
    yield "its kind", ", ".join(found.likeness.reasons)
    if not found.likeness.comparable:
        yield "in all", "times of such different machines are never compared"
    elif found.comparisons and found.comparisons[0].first.is_time:
        yield "in all", comparison.summary(found.comparisons, "here")


def send(
    bundles: Sequence[SubmissionBundle], data: DataFolder, checkout: Path | None, remote: str | None, *, here: bool
) -> None:
    """Write the credits, and take the bundles as far as they go; the product is where they are then.

    `here`: whether the repository that was cloned takes the pull request, and not what it was forked from.
    """
    for item in (item for bundle in bundles for item in bundle.items):
        item.save()
    if checkout is None:
        root = Path.cwd() / OWN_FOLDER
        lay_out([item for bundle in bundles for item in bundle.items], root)
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
    """The text of the pull request: ids, and escaped what counts change, so that nothing in it can mean anything."""
    folders = "".join(f"- `data/results/{item.submission.id}`\n" for item in bundle.items)
    told = series_list(bundle.items, data)
    return f"Measured with `probe-effect`, and sound by `probe-effect check`:\n\n{folders}\n{told}"


NEVER_RECORDED = "host names, user names, folders of users, addresses, serial numbers"


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
        show_section(f"What will be published, in {IN_REPOSITORY}/{bundle.machine}", _files(bundle), aside=True)
        newest = max(bundle.items, key=lambda item: item.document.run.started)
        show_section("The machine, as its page will show it", facts(newest.document).items(), aside=True)
        show_numbers(bundle.items, data, checkout)
    marks, allowed = marks_of_host(), (*options["allowed"], options["name"] or "")
    if problems := find_private([item for one in bundles for item in one.items], marks, allowed, data):
        raise BadData(problems)
    bundles = _with_credits(bundles, options, asks=asks)
    credits_ = [item.credit for one in bundles for item in one.items]
    _show_persons(credits_, branches.author(checkout) if checkout else None, len(marks))
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
    """The bundles with the name that is given, on the command line or at the terminal."""
    if options["name"] is not None or options["nameless"]:
        return [one.credited(options["name"]) for one in bundles]
    if asks and not any(item.credit for one in bundles for item in one.items):
        answer = click.prompt("Name to credit (none: leave it empty)", default="", show_default=False, err=True)
        name = credited(answer.strip() or None, None).name
        return [one.credited(name) for one in bundles]
    return bundles


def _bundles(folders: Sequence[Path], data: DataFolder, checkout: Path | None) -> list[SubmissionBundle]:
    """What is to be submitted, checked. Raises: BadData, UsageError."""
    chosen = _named(folders) if folders else _found_here(data, checkout)
    problems = [problem for one in chosen for problem in checks.check([one.folder], _beside(one, data, checkout))]
    if any(problem.severity == "error" for problem in problems):
        raise BadData(problems)
    output.show_problems(problems)
    return read_bundles(chosen, data)


def _beside(one: SubmissionFolder, data: DataFolder, checkout: Path | None) -> DataFolder:
    """The data with which a submission is compared: outside a clone those around it, for ours may have its copy."""
    return data if checkout or one.folder.is_relative_to(data.root) else DataFolder(one.folder.parents[2], data.kept)


def _named(folders: Sequence[Path]) -> list[SubmissionFolder]:
    """The submissions at or below the folders that were named."""
    found = [
        SubmissionFolder(path.parent)
        for folder in folders
        for path in sorted(folder.resolve().rglob(SubmissionFolder(folder).machine_file.name))
    ]
    if not found:
        raise UsageError(
            f"{folders[0]}: holds no submission. Expected a folder such as the one that `probe-effect measure` prints."
        )
    return list(dict.fromkeys(found))


def _found_here(data: DataFolder, checkout: Path | None) -> list[SubmissionFolder]:
    """What is complete and not published yet."""
    base = branches.published(checkout, branches.local_base(checkout)) if checkout else set()
    found = [one for one in data.submissions() if one.id not in base]
    unfinished = [one for one in found if one.plan_file.exists()]
    complete = [one for one in found if one not in unfinished]
    for one in unfinished:
        output.say(f"left out: {one.folder} is not complete; to go on with it: {command_to_go_on(one)}")
    if not complete and (unfinished or not base):
        raise UsageError(f"{data.results}: holds nothing that is complete. Measure first: {typed('measure')}")
    return complete


def _files(bundle: SubmissionBundle) -> Iterator[tuple[str, str]]:
    for item in bundle.items:
        folder = item.submission.folder.name
        yield from ((units.size(path.stat().st_size), f"{folder}/{path.name}") for path in item.files())


def _show_persons(credits_: Iterable[str | None], author: str | None, marks: int) -> None:
    """What will be public of the person, and what was looked for."""
    names = ", ".join(dict.fromkeys(filter(None, credits_)))
    rows = [("credit", names or "none; --name gives one")]
    rows += [("author of the commit", author)] if author else []
    rows += [("never recorded", NEVER_RECORDED)]
    rows += [("looked for in the files", f"{marks} names and numbers of this machine; none is in them")]
    show_section("You", rows, aside=True)
