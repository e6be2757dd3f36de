"""What `probe-effect submit` does: show what becomes public, look for names, and send it."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypedDict

import click

from probe_effect import units
from probe_effect.checks import run as checks
from probe_effect.cli import output
from probe_effect.cli.data_options import credited
from probe_effect.cli.review_run import series_list, show_numbers
from probe_effect.cli.tables import show_section
from probe_effect.errors import BadData, UsageError
from probe_effect.host import typed
from probe_effect.measure.submission import command_to_go_on
from probe_effect.pages.machine_page import facts
from probe_effect.store.places import OWN_FOLDER, DataFolder, SubmissionFolder
from probe_effect.submit import pull_request as branches
from probe_effect.submit.bundle import (
    IN_REPOSITORY,
    SubmissionBundle,
    find_private,
    lay_out,
    marks_of_host,
    read_bundles,
)
from probe_effect.submit.pull_request import Step


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


def run(folders: Sequence[Path], data: DataFolder, options: SubmitOptions) -> None:
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
    chosen = _named(folders) if folders else _found(data, checkout)
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


def _found(data: DataFolder, checkout: Path | None) -> list[SubmissionFolder]:
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
