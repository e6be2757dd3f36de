"""The folder of one run: made at its start, so that a run cut short is a submission too; continued and closed."""

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from probe_effect import __version__
from probe_effect.host import typed
from probe_effect.host.load import KEYS, load_average
from probe_effect.host.ownership import MAKE_OURS, demand, stranger, sudo_user
from probe_effect.measure.request import Work, choose_tracers
from probe_effect.measure.testbed import Testbed
from probe_effect.model import BadData, HostNotReady, UsageError
from probe_effect.store import machine_file
from probe_effect.store.documents import write_document
from probe_effect.store.places import SubmissionFolder, submissions_in
from probe_effect.store.suite_file import Suite
from probe_effect.tracers.protocol import Tracer
from probe_effect.tracers.tool import at_path


class SteadyClock:
    """The time of day when it was made, continued by the monotonic clock, which is never set during a run."""

    def __init__(self) -> None:
        self._start, self._start_s = datetime.now(UTC), time.monotonic()

    def moment(self) -> str:
        return (self._start + timedelta(seconds=time.monotonic() - self._start_s)).strftime(machine_file.MOMENT_FORM)

    def jumped_s(self) -> float:
        """Seconds by which the time of day was set since then: above 0 when it was set forward."""
        return (datetime.now(UTC) - self._start).total_seconds() - (time.monotonic() - self._start_s)


def moment() -> str:
    """Now, UTC, to the second."""
    return SteadyClock().moment()


@dataclass(frozen=True, slots=True)
class OpenSubmission:
    """A submission whose run is under way, or was cut short."""

    place: SubmissionFolder
    document: machine_file.MachineFile
    plan: machine_file.PlanFile
    clock: SteadyClock = field(default_factory=SteadyClock)

    def write(self) -> None:
        """Write the document as it is so far. Raises: HostNotReady."""
        write_document(self.place.machine_file, self.document)

    def keep(self, **facts: object) -> None:
        """Record these keys of `run` of a run that is cut short. Raises: HostNotReady when that cannot be written."""
        run = self.document.run.model_copy(update=facts)
        write_document(self.place.machine_file, self.document.model_copy(update={"run": run}))

    def close(self, **facts: object) -> SubmissionFolder:
        """Record when the run ended and how busy the machine was then; `facts` are further keys of `run`.

        Raises: HostNotReady when that cannot be written; then the run stays open.
        """
        load_after = None if self.document.run.load_before is None else load_average()
        self.keep(**{"ended": self.clock.moment(), "load_after": load_after} | facts)
        self.place.plan_file.unlink()
        return self.place


def open_submission(results: Path, document: machine_file.MachineFile, plan: machine_file.PlanFile) -> OpenSubmission:
    """A fresh folder below `results` with its `machine.json`, `ended` still null, and its plan.

    Raises: HostNotReady when the folder cannot be made or written.
    """
    name = f"{document.run.started[:10]}-{document.run.suite}"
    try:
        submission = SubmissionFolder(_fresh_folder(results / document.machine.id, name))
    except OSError as error:
        raise _not_writable(results, error) from error
    opened = OpenSubmission(submission, document, plan)
    try:
        opened.write()
        write_document(submission.plan_file, plan)  # last: by it the run is known to be unfinished
    except HostNotReady:
        shutil.rmtree(submission.folder, ignore_errors=True)  # nothing was measured yet
        raise
    return opened


def check_writable(results: Path) -> None:
    """Check, before the first trial, that folders can be made in `results`. Raises: HostNotReady when they cannot."""
    try:
        results.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=results):
            pass
    except OSError as error:
        raise _not_writable(results, error) from error


def _not_writable(results: Path, error: OSError) -> HostNotReady:
    return HostNotReady(f"{results}: results cannot be written there: {error.strerror}; name another folder with --out")


def _fresh_folder(parent: Path, name: str) -> Path:
    """`<name>`, or `<name>-2` and so on if there was a run on that day: no measured row is ever overwritten."""
    parent.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        folder = parent / (name if number == 1 else f"{name}-{number}")
        with suppress(FileExistsError):
            folder.mkdir()
            return folder
    raise AssertionError


def hand_to_sudo_user(folder: Path) -> None:
    """Give a submission's folder to the user who called `sudo`, so that they can read, credit and send it.

    The parent folders that were made for it become theirs too, up to the nearest that is theirs already. Without sudo
    this does nothing, nor where a third user could exchange what is handed over.
    """
    user = sudo_user()
    if user is None or stranger(folder):
        return
    for path in (*_on_the_way(folder.resolve(), user[0]), folder, *folder.iterdir()):
        status = path.lstat()
        is_only_here = stat.S_ISDIR(status.st_mode) or (stat.S_ISREG(status.st_mode) and status.st_nlink == 1)
        if status.st_uid == 0 and is_only_here:  # what root made here, and not another name of a file elsewhere
            os.chown(path, *user, follow_symlinks=False)


def _on_the_way(folder: Path, user: int) -> list[Path]:
    """Root's folders between `folder` and the nearest parent that is the user's; none if no parent is."""
    between: list[Path] = []
    for parent in folder.parents:
        owner = parent.stat().st_uid
        if owner == user:
            return between
        if owner != 0:
            break
        between.append(parent)
    return []


MEASURED = ("clock_read_ns", *KEYS, "boot_messages")
"""Facts that may differ later on the same machine: times, and a log that forgets its beginning."""


def unfinished(results: Path, suites: Collection[str], testbed: Testbed) -> list[OpenSubmission]:
    """The newest unfinished run for each suite on the machine, also as a hosted one; an empty `suites` means all.

    Raises: UsageError when there is none; BadData for files that cannot be read.
    """
    own, places = ids_of(testbed), cut_short(results)
    read = [read_unfinished(submission) for submission in places if submission.machine in own]
    newest = {opened.document.run.suite: opened for opened in read}
    chosen = [opened for suite, opened in newest.items() if not suites or suite in suites]
    if not chosen:
        of = f" of {', '.join(suites)}" if suites else ""
        msg = f"{results / own[0]}: no run{of} was cut short here; to start one, omit --resume"
        if others := [str(submission.folder) for submission in places if submission.machine not in own]:
            msg += f"\ncut short on another machine, or here before CPU, memory or kernel changed: {', '.join(others)}"
        raise UsageError(msg)
    return chosen


def ids_of(testbed: Testbed) -> tuple[str, str]:
    """The ids under which runs of a machine are kept: its own, and that which it has as a hosted runner."""
    machine = testbed.machine()
    return machine.id, machine_file.runner_id(machine, testbed.system(None, 0))


def cut_short(results: Path) -> list[SubmissionFolder]:
    """The submissions below `results` that are not complete, the one begun last at the end.

    Raises: UsageError for another user's: what a plan names is run, and its folder is written.
    """
    places = [submission for submission in submissions_in(results) if submission.plan_file.is_file()]
    for submission in places:
        demand([submission.folder, *submission.folder.iterdir()], MAKE_OURS, results)
    return sorted(places, key=lambda submission: submission.plan_file.stat().st_mtime_ns)


def read_unfinished(submission: SubmissionFolder) -> OpenSubmission:
    """The unfinished run in a folder. Raises: BadData for files that cannot be read."""
    document, problems = machine_file.read_machine_file(submission.machine_file, str(submission.machine_file))
    plan, more = machine_file.read_plan_file(submission.plan_file, str(submission.plan_file))
    if document is None or plan is None:
        raise BadData([*problems, *more])
    return OpenSubmission(submission, document, plan)


def command_to_go_on(submission: SubmissionFolder) -> str:
    """The command that continues an unfinished run, by its plan; `measure --resume` if the plan cannot be read.

    The folder may have been moved since it was begun.
    """
    plan, _ = machine_file.read_plan_file(submission.plan_file, str(submission.plan_file))
    words = plan.continued_by if plan and plan.continued_by else ("measure", "--resume")
    return typed(*words, "--out", submission.folder.resolve().parents[1])


def reopen(opened: OpenSubmission, work: Work) -> OpenSubmission:
    """The submission, open again; not yet written. Raises: HostNotReady if a tracer or the source tree has changed."""
    changes = [
        f"{name} was {before} and is {version}"
        for name, version in work.versions().items()
        if (before := opened.document.tools.get(name)) != version
    ]
    run = opened.document.run
    if work.tree is not None and (before := run.packages.get("tree")) != work.tree.origin:
        changes.append(f"the source tree was {before} and is {work.tree.origin}")
    if changes:
        raise changed(opened.place, changes)
    run = run.model_copy(update={"resumed": (*run.resumed, moment())})
    return OpenSubmission(opened.place, opened.document.model_copy(update={"run": run}), opened.plan)


def changed(submission: SubmissionFolder, changes: Iterable[str]) -> HostNotReady:
    """The refusal to continue, with what has changed since the beginning."""
    return HostNotReady(
        f"{submission.folder}: cannot be continued, as {'; '.join(changes)}\n"
        "its rows are kept; to measure again, omit --resume"
    )


def work_of(
    opened: OpenSubmission, suites: Iterable[tuple[Path, Suite]], all_tracers: Mapping[str, Tracer], testbed: Testbed
) -> Work:
    """The suite and the tracers of an unfinished run. No program that its plan names is started before all else is
    found as it was.

    Raises: UsageError for a suite or tracer that is not known any more, and for a program of another user's.
    Raises: HostNotReady for a tracer that cannot run now, and if the machine or the suite has changed.
    """
    by_id, name = {suite.id: (folder, suite) for folder, suite in suites}, opened.document.run.suite
    if name not in by_id:
        raise UsageError(f"{opened.place.folder}: suite {name} is not known here")
    work = Work(*by_id[name], {}, (), {})
    if changes := list(_changes(opened, work, testbed)):
        raise changed(opened.place, changes)
    names = list(dict.fromkeys(subject.tracer for subject in opened.plan.subjects))
    tracers = {name: _tracer(name, opened.plan, all_tracers) for name in names}
    measured = tuple(subject.key for subject in opened.plan.subjects if subject.status != "skipped")
    return replace(work, tracers=choose_tracers(tracers, names), measured=measured)


def _tracer(name: str, plan: machine_file.PlanFile, all_tracers: Mapping[str, Tracer]) -> Tracer:
    if name in all_tracers:
        return all_tracers[name]
    alike = [tracer for tracer in all_tracers.values() if name.startswith(f"{tracer.id}-")]
    if name not in plan.programs or not alike:
        raise UsageError(f"{name}: no such tracer here, but the unfinished run has it; known: {', '.join(all_tracers)}")
    # `strace-seccomp-6-1` begins as `strace` does too.
    tool, program = max(alike, key=lambda tracer: len(tracer.id)), plan.programs[name]
    demand([Path(program)], f"--tracer {tool.id}={program} says that you mean it")
    return at_path(tool, program)


def _changes(opened: OpenSubmission, work: Work, testbed: Testbed) -> Iterator[str]:
    """The differences between now and the beginning of the run that are known without a tracer, in words."""
    document = opened.document
    system = testbed.system(None, document.run.workload_cpu)
    machine = machine_file.as_author(testbed.machine(), system, document.provenance.kind)
    for part, before, now in (("machine", document.machine, machine), ("system", document.system, system)):
        facts = now.model_dump()
        for name, value in before.model_dump().items():
            if name not in MEASURED and facts[name] != value:
                yield f"{part}.{name} was {value} and is {facts[name]}"
    if work.digest() != opened.plan.digest:
        yield f"the files of suite {work.suite.id} have changed"
    if document.provenance.tool != f"probe-effect {__version__}":
        yield f"it was begun by {document.provenance.tool}"
    if document.run.started > moment():
        yield f"it began at {document.run.started}, which this machine's clock says is still to come"
