"""`probe-effect measure --vm new`: what Debian has that was not counted yet, how long it will take, and then that."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from probe_effect.cli import output
from probe_effect.cli.measure_run import run
from probe_effect.cli.measure_settings import MeasureOptions, default_blocks
from probe_effect.cli.measure_target import CACHE
from probe_effect.cli.tables import show_section
from probe_effect.compilers import cache_folder
from probe_effect.emulated.architecture import ARCHITECTURES
from probe_effect.emulated.debian import locked
from probe_effect.emulated.news import RELEASES, SUITES, Job, Offer, counted, duration_s, missing, offer
from probe_effect.errors import HostNotReady, ProbeEffectError
from probe_effect.measure.interrupt import Interrupted
from probe_effect.measure.request import choose_suites
from probe_effect.store.machine_file import MachineFile, read_machine_file
from probe_effect.store.places import DataFolder, submissions_in
from probe_effect.store.suite_file import tools_of

HOUR_MIN = 60


def run_new(data: DataFolder, results: Path, options: MeasureOptions, architectures: Sequence[str]) -> None:
    """Say what is new, and count it, one suite on one kernel after the other.

    Raises: HostNotReady at the end, where archives could not be had or something could not be counted; Interrupted.
    """
    offers, faults = _offers(architectures)
    # The counts of the data, and those that lie with the results already.
    folders = {place.folder.resolve(): place for place in (*data.submissions(), *submissions_in(results))}
    read = (read_machine_file(place.machine_file, str(place.machine_file))[0] for place in folders.values())
    runs = [one for one in read if one is not None and one.run.metric == "instructions"]
    suites = choose_suites(data, options["suites"] or SUITES)
    jobs = missing(offers, runs, {suite.id: set(tools_of(folder)) for folder, suite in suites})
    _show(jobs, runs, options)
    if not jobs and not faults:
        output.product(f"nothing is new: {len(offers)} kernels of Debian, with each bpftrace that is followed")
    for job in () if options["dry_run"] else jobs:
        try:
            # Count one suite on one kernel.
            tracers = [tracer.word for tracer in job.tracers]
            wanted: MeasureOptions = {
                **options,
                "suites": [job.suite],
                "tracers": tracers,
                "vm": job.offer.release,
                "architecture": job.offer.architecture,
            }
            run(data, results, wanted)
        except Interrupted:
            raise
        except ProbeEffectError as error:
            faults.append(f"{job.suite} on {job.offer.kernel}: {error}")
            output.say(f"not counted: {faults[-1]}")
    if faults:
        raise HostNotReady("\n".join(["what could not be done; the rest is as it should be:", *faults]))


def _offers(architectures: Sequence[str]) -> tuple[list[Offer], list[str]]:
    """What Debian has now, and why of some release that is not known."""
    cache = cache_folder() / CACHE
    found, faults = [], []
    with locked(cache):
        for name in architectures:
            for release in RELEASES:
                try:
                    found.append(offer(release, ARCHITECTURES[name], cache))
                except HostNotReady as error:
                    faults.append(f"Debian {release} for {name}: {error}")
                    output.say(faults[-1])
    return found, faults


def _show(jobs: Sequence[Job], runs: Sequence[MachineFile], options: MeasureOptions) -> None:
    """What will be counted with what, and how long that takes."""
    blocks = options["blocks"] or default_blocks(options)
    times = {job: duration_s(job, runs, ARCHITECTURES[job.offer.architecture].machine, blocks) for job in jobs}
    aside = not options["dry_run"]
    for one, its in groupby(jobs, lambda job: job.offer):
        title = f"{one.kernel}, {one.release}: {'counted before' if counted(one.kernel, runs) else 'new'}"
        rows = [(job.suite, _about(times[job]), ", ".join(map(str, job.tracers))) for job in its]
        show_section(title, rows, aside=aside)
    if jobs:
        known = [seconds for seconds in times.values() if seconds is not None]
        rest = len(jobs) - len(known)
        more = f", and {rest} of which it is not known" if rest else ""
        title = f"{len(jobs)} counts of a suite on a kernel, one after the other"
        show_section(
            title, [("time", f"{_about(sum(known)) if known else 'unknown'}{more if known else ''}")], aside=aside
        )


def _about(seconds: float | None) -> str:
    if seconds is None:
        return "time unknown"
    minutes = max(1, round(seconds / 60))
    return (
        f"about {minutes // HOUR_MIN} h {minutes % HOUR_MIN:02} min" if minutes > HOUR_MIN else f"about {minutes} min"
    )
