"""Where `scale` builds one size: a copy of the project with made submissions, and the commands that are timed there."""

from __future__ import annotations

import shutil
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evidence.honest import PROJECT
from evidence.scale_measured import COLD, Build
from evidence.scale_run import copy_project, git, run, steps
from evidence.scale_watch import Watch
from probe_effect.checks.copies import in_common, known_machines
from probe_effect.site.build import BuildPlaces, SiteOptions, fitted, run_hugo
from probe_effect.store.kept import Kept
from probe_effect.store.machine_file import read_machine_file
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.result_tables import read_samples
from probe_effect.store.suite_file import known_suites

if TYPE_CHECKING:
    from pathlib import Path

    from evidence.scale_watch import Used

KEPT = ("build", "site/resources")
"""Folders of a project in which builds keep things for the next one: without them a build is cold."""

ALONE = ("suites", "references.toml", "schema")
"""What of the data is beside made submissions that are to be alone."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Where one size is built: a copy of the project, with the made submissions in its data."""

    project: Path
    is_alone: bool

    @property
    def data(self) -> DataFolder:
        """The data; those that are alone are not the checkout's own, and so have no guide."""
        return DataFolder(
            self.project / ("alone" if self.is_alone else ".") / "data", Kept(self.project / "build/kept")
        )

    @property
    def places(self) -> BuildPlaces:
        """Where a build reads and writes."""
        return BuildPlaces(self.project, self.data, self.project / "build" / "site")

    def prepare(self) -> None:
        """The copy, and the data that are beside those that are made."""
        copy_project(self.project)
        if self.is_alone:
            for part in ALONE:
                source, target = PROJECT / "data" / part, self.data.root / part
                target.parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if source.is_dir() else shutil.copy2)(source, target)

    def build(self, name: str) -> Build:
        """One build, then Hugo alone on the work folder that it left. Raises: ProbeEffectError."""
        if name == COLD:
            for kept in KEPT:
                shutil.rmtree(self.project / kept, ignore_errors=True)
        words = ("build", "--data", str(self.data.root), "--out", str(self.places.out))
        whole, said = run(f"build, {name}", words, self.project)
        return Build(whole=whole, steps=steps(said, whole.seconds), hugo=hugo_alone(self.places))

    def published_commands(self) -> dict[str, list[str]]:
        """What readers of published data call, each by its name on the page: of two submissions of one suite."""
        by_suite: dict[str, list[SubmissionFolder]] = defaultdict(list)
        for files in self.data.submissions():
            document, _ = read_machine_file(files.machine_file, files.id)
            if document is not None and document.run.metric == "time":
                by_suite[document.run.suite].append(files)
        first, second = max(by_suite.values(), key=len)[:2]
        rows, _ = read_samples(first.samples, first.id)
        traced = [row for row in rows if (row.arm, row.status) == ("traced", "ok")]
        # The data are like real ones: some cases have no answer, because their events do not add up.
        apart = {(one.case, one.tracer, one.level) for one in rows if one.seen is not None and one.seen != one.events}
        row = next(one for one in traced if (one.case, one.tracer, one.level) not in apart)
        number = "/".join(filter(None, (first.id, row.case, row.tracer, row.level)))
        data = ["--data", str(self.data.root)]
        return {
            "--help": ["--help"],
            "predict QUESTION": ["predict", "--rate", "50k", "--case", row.case, "--tracer", row.tracer, *data],
            "cite NUMBER": ["cite", number, *data],
            "compare A B": ["compare", str(first.folder), str(second.folder), *data],
        }

    def added_commands(self, added: SubmissionFolder) -> dict[str, list[str]]:
        """What is called for a submission that is not published yet."""
        data = ["--data", str(self.data.root)]
        return {"check SUBMISSION": ["check", str(added.folder), *data], "review HEAD": ["review", "HEAD", *data]}

    def publish(self) -> None:
        """Commit the data as it is now. Raises: ProbeEffectError."""
        git(self.data.root.parent, "init", "--quiet")
        git(self.data.root.parent, "add", "data")
        git(self.data.root.parent, "commit", "--quiet", "--message", "Data")


def hugo_alone(places: BuildPlaces) -> Used:
    """What Hugo uses, called as the build calls it. Raises: ProbeEffectError."""
    options = fitted(SiteOptions(), places)
    destination = places.out.with_name("hugo-alone")
    with Watch() as watch:
        run_hugo(places.project, places.work, destination, options)
    shutil.rmtree(destination)
    return watch.used()


def signs_s(data: DataFolder, kept: Kept) -> float:
    """CPU time of laying each submission beside all others of its suite, s; what `kept` has is not done again."""
    start_s = time.process_time()
    folders = data.submissions()
    in_common(known_machines(folders), folders, known_suites(data), kept)
    return time.process_time() - start_s
