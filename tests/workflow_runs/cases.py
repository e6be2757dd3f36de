"""What is run, and what each run must have done. A case gives its runs one by one, with what is wrong with each."""

from __future__ import annotations

import shutil
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from helpers.builders import PROJECT
from workflow_runs import act
from workflow_runs.hub import FLEET, VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from workflow_runs.act import Run
    from workflow_runs.hub import Hub

NOT_RUN = {
    "attest": "attestations; that there is what would be attested is looked at",
    "deploy-pages": "the deployment; that there is a site is looked at",
    "bench-freebsd.yml": "FreeBSD in a virtual machine",
    "test.yml": "its container; act's schema is asked",
    "kernels.yml": "its container, what Debian has, and emulated machines",
    "waiting": "for a machine that is off; act passes over its job, and the rest of its chain finds no results",
    "environments": "reviewers who let a job begin, and runner groups",
    "permissions": "what a token may do",
    "concurrency": "runs that wait for each other",
}
"""What no run here can say anything about."""

PROGRAM = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
"""The version of the program, which can be released too."""

RED = ("Check the data, and say what would change",)
"""The one step that fails where data are not sound."""


@dataclass(frozen=True)
class Outcome:
    """One run, and what is not as it must be."""

    workflow: str
    what: str
    run: Run
    faults: list[str]


def outcome(workflow: str, what: str, run: Run, failed: tuple[str, ...] = (), **holds: bool) -> Outcome:
    """The run must have failed in these steps and no others, and `holds` be true of what it did."""
    faults = [f"not: {name.replace('_', ' ')}" for name, true in holds.items() if not true]
    if tuple(run.failed) != failed or run.passed == bool(failed):
        faults.append(f"failed at {run.failed or 'nothing'}, exit {run.exit_status}")
    return Outcome(workflow, what, run, faults)


def reviewed(
    hub: Hub, number: int, what: str, failed: tuple[str, ...] = (), *, comment: bool = True
) -> Iterator[Outcome]:
    """The run for a pull request, and the one that comments on it where that is due."""
    run = act.run(hub, "submission.yml", act.pull_request(hub, number))
    yield outcome("submission.yml", what, run, failed)
    hub.told("calls")
    run = act.run(hub, "preview-comment.yml", act.completed(hub, number, run))
    yield outcome("preview-comment.yml", what, run, commented_where_it_is_due=bool(hub.comments(number)) is comment)


def sound(hub: Hub) -> Iterator[Outcome]:
    """A sound pull request has its preview and one comment, which the next run writes anew."""
    hub.pull_request(7, hub.add_measured)
    yield from reviewed(hub, 7, "a sound pull request")
    reviews = next(hub.runs.glob("*/review"))
    posted = any("POST" in line for line in hub.told("calls"))
    again = act.run(hub, "preview-comment.yml", act.completed(hub, 7, act.Run(int(reviews.parent.name), 0.0, 0)))
    yield outcome(
        "preview-comment.yml",
        "the same once more",
        again,
        was_posted=posted,
        is_patched=any("PATCH" in line for line in hub.told("calls")),
        is_one=len(hub.comments(7)) == 1,
        names_the_submission=hub.measured.name in hub.comments(7)[0],
    )


def bad_cell(hub: Hub) -> Iterator[Outcome]:
    """A negative time is found, and the comment says it."""

    def change(clone: Path) -> None:
        rows = hub.add_measured(clone)
        header, first, *rest = rows.read_text(encoding="utf-8").splitlines()
        cells = first.split(",")
        cells[header.split(",").index("wall_ns")] = "-5"
        rows.write_text("\n".join([header, ",".join(cells), *rest]) + "\n", encoding="utf-8")

    hub.pull_request(8, change)
    yield from reviewed(hub, 8, "a bad cell", RED)


def edited(hub: Hub) -> Iterator[Outcome]:
    """What is published stays as it is."""

    def change(clone: Path) -> None:
        rows = clone / hub.published / "samples.csv"
        lines = rows.read_text(encoding="utf-8").splitlines()
        rows.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")

    hub.pull_request(9, change)
    yield from reviewed(hub, 9, "an edited published folder", RED)


def beyond_data(hub: Hub) -> Iterator[Outcome]:
    """A pull request that changes more than data gets no comment."""

    def change(clone: Path) -> None:
        hub.add_measured(clone)
        (clone / "README.md").write_text("Ours now.\n", encoding="utf-8")

    hub.pull_request(10, change)
    yield from reviewed(hub, 10, "a change beyond data", comment=False)


def bench(hub: Hub) -> Iterator[Outcome]:
    """The machine that is on is measured and sends its pull request, whatever the one that is off does."""
    on, off = FLEET
    run = act.run(hub, "bench.yml", act.dispatch(suites="tiny"), runners=[on])
    requests, asked = hub.told("requests"), hub.told("sudo")
    kept = {path.name for path in (hub.runs / str(run.number)).iterdir()}
    # act passes over a job that nobody takes, where GitHub waits: so the other chain goes on, and finds no results.
    elsewhere = [step for step in run.failed if "download-artifact" not in step]
    yield outcome(
        "bench.yml",
        f"two machines, of which one is {off}",
        run,
        tuple(run.failed),
        nothing_else_failed=not elsewhere,
        was_measured_once=sum(" measure " in line for line in asked) == 1,
        has_kept_its_results=kept == {f"results-{on}"},
        pushed_one_branch=len(hub.branches()) == 1,
        made_one_pull_request=len(requests) == 1,
    )


ONE_IMAGE = ("runner:ubuntu-24.04",)
KEPT = "results-ubuntu-24.04"


def hosted(hub: Hub) -> Iterator[Outcome]:
    """A hosted runner is measured in two jobs, attested, and proposed by one pull request."""
    hub.told("requests")
    run = act.run(hub, "bench-hosted.yml", act.dispatch(suites="wanted", minutes="20"), only=ONE_IMAGE)
    asked = hub.told("sudo")
    folders = submissions(hub, run)
    yield outcome(
        "bench-hosted.yml",
        "a whole run",
        run,
        has_installed_the_kernels_perf=any("linux-tools-" in line for line in hub.told("apt-get")),
        has_measured_what_is_wanted_twice=sum(" lend --minutes 20 " in line for line in asked) == 2,
        has_kept_both_parts=len(folders) == 2 and all(folders.values()),
        is_one_machine=len({folder.parent.name for folder in folders}) == 1,
        is_a_hosted_runner=all(folder.parent.name.startswith("hosted-") for folder in folders),
        was_attested=any("/attest" in job and result == "success" for job, result in run.jobs),
        made_one_pull_request=len(hub.told("requests")) == 1,
    )


def hosted_cut_off(hub: Hub) -> Iterator[Outcome]:
    """The second part is killed in the middle: what the first one measured is proposed, and all rows are kept."""
    kills = hub.folder / "kills"
    kills.mkdir()
    (kills / "once-continued").write_text("3\n", encoding="utf-8")  # runs of the second part, which has six and a trial
    branches = hub.branches()
    run = act.run(hub, "bench-hosted.yml", act.dispatch(suites="tiny", minutes="20"), only=ONE_IMAGE)
    shutil.rmtree(kills)  # a countdown that was not reached is nothing to the next case
    folders = submissions(hub, run)
    complete = [folder for folder, is_complete in folders.items() if is_complete]
    added = [name for branch in hub.branches() if branch not in branches for name in hub.added(branch)]
    yield outcome(
        "bench-hosted.yml",
        "one that is cut off",
        run,
        ("Measure",),
        is_cut_off_in_its_second_part=len(folders) == 2 and len(complete) == 1,
        keeps_the_rows_of_the_other=all((folder / "samples.csv").is_file() for folder in folders),
        proposes_the_complete_one_alone=added == [folder.name for folder in complete],
        made_one_pull_request=len(hub.told("requests")) == 1,
    )


def hosted_fork(hub: Hub) -> Iterator[Outcome]:
    """In a fork a branch is pushed, and its owner is told how to propose it; by the schedule nothing is done."""
    hub.state["source"] = {"full_name": "upstream/probe-effect"}
    hub.save()
    begun = act.in_a_fork(act.Event("schedule", {"schedule": "11 1 3 * *"}))
    run = act.run(hub, "bench-hosted.yml", begun, only=ONE_IMAGE)
    yield outcome("bench-hosted.yml", "a fork's schedule", run, does_nothing=not run.jobs)
    branches = hub.branches()
    run = act.run(hub, "bench-hosted.yml", act.in_a_fork(act.dispatch(suites="tiny")), only=ONE_IMAGE)
    new = [one for one in hub.branches() if one not in branches]
    address = f"https://github.com/upstream/probe-effect/compare/HEAD...them:{new and new[0]}?expand=1"
    yield outcome(
        "bench-hosted.yml",
        "a fork's, by hand",
        run,
        attests_nothing=not any("/attest" in job for job, _ in run.jobs),
        opens_no_pull_request=not hub.told("requests"),
        pushed_one_branch=len(new) == 1,
        says_where_to_open_it=address in run.log,
        its_three_commands_work=bool(new) and hub.proposed_by_hand(hub.runs / str(run.number) / KEPT),
    )
    del hub.state["source"]
    hub.save()


def submissions(hub: Hub, run: Run) -> dict[Path, bool]:
    """The folders of a hosted runner that the run has kept, each with whether it is complete."""
    found = sorted((hub.runs / str(run.number) / KEPT).glob("*/*"))
    return {folder: not (folder / "plan.json").exists() for folder in found}


def kernels(hub: Hub) -> Iterator[Outcome]:
    """What is new becomes one pull request; a dry run says what it is, and makes none."""
    before = len(hub.branches())
    run = act.run(hub, "kernels.yml", act.dispatch(**{"dry-run": "true"}))
    yield outcome(
        "kernels.yml",
        "a dry run",
        run,
        counts_nothing=not (hub.runs / str(run.number) / "results-kernels").exists(),
        submits_nothing=not any(job.endswith("submit") and result == "success" for job, result in run.jobs),
    )
    for name in ("requests", "apt-get"):
        hub.told(name)
    run = act.run(hub, "kernels.yml", act.dispatch())
    yield outcome(
        "kernels.yml",
        "something new",
        run,
        has_installed_what_emulates=any("gcc-aarch64-linux-gnu" in line for line in hub.told("apt-get")),
        has_kept_its_results=(hub.runs / str(run.number) / "results-kernels").is_dir(),
        pushed_one_branch=len(hub.branches()) == before + 1,
        made_one_pull_request=len(hub.told("requests")) == 1,
    )


def publish(hub: Hub) -> Iterator[Outcome]:
    """The site follows the tests, and nothing is published where they failed."""
    run = act.run(hub, "publish.yml", act.tested(hub, "failure"))
    yield outcome("publish.yml", "tests that failed", run, does_nothing=not run.jobs)
    run = act.run(hub, "publish.yml", act.tested(hub, "success"))
    yield outcome("publish.yml", "tests that passed", run, deploys=("publish/deploy", "success") in run.jobs)


def release(hub: Hub) -> Iterator[Outcome]:
    """A release of data and one of the program go out with their files; what is no version does not."""
    run = act.run(hub, "release.yml", act.dispatch(version=VERSION))
    made = "".join(hub.told("releases"))
    names: tuple[str, ...] = ("SHA256SUMS", f"probe-effect-{VERSION}.zip", "costs.csv", "costs.parquet")
    yield outcome("release.yml", VERSION, run, has_its_files=all(name in made for name in names))
    run = act.run(hub, "release.yml", act.dispatch(version=PROGRAM))
    made = "".join(hub.told("releases"))
    names = (f"v{PROGRAM}", "SHA256SUMS", f"probe_effect-{PROGRAM}-py3-none-any.whl", "CITATION.cff", "CHANGELOG.md")
    yield outcome("release.yml", PROGRAM, run, has_its_tag_and_files=all(name in made for name in names))
    run = act.run(hub, "release.yml", act.dispatch(version="../main"))
    yield outcome("release.yml", "no version", run, ("Put the files together",), makes_nothing=not hub.told("releases"))


def others(hub: Hub) -> Iterator[Outcome]:
    """What needs a container is asked of the schema."""
    for name in ("test.yml", "test-all.yml", "bench-freebsd.yml"):
        yield outcome(name, "validated only", act.is_valid(hub, name))


CASES: tuple[Callable[[Hub], Iterator[Outcome]], ...] = (
    sound,
    bad_cell,
    edited,
    beyond_data,
    bench,
    hosted,
    hosted_cut_off,
    hosted_fork,
    kernels,
    publish,
    release,
    others,
)
