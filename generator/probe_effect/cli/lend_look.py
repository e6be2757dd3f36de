"""What `lend` and `wanted` find out of this machine, and what `lend` says of it before it begins."""

import platform
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path

from probe_effect.cli.doctor_run import facts, noise
from probe_effect.cli.tables import show_section
from probe_effect.host import ROOT, read_text, typed
from probe_effect.machine import collect
from probe_effect.machine.system import CPU_FOLDER
from probe_effect.measure.calibrate import QUICK, THOROUGH
from probe_effect.measure.diagnosis import Diagnosis, diagnose, flags_missing
from probe_effect.measure.request import Work, choose_suites, resolve
from probe_effect.numbers.catalogue import Catalogue, read_numbers
from probe_effect.numbers.shown import facts_of, kind_of
from probe_effect.store.places import PACKAGED, DataFolder, submissions_in
from probe_effect.tracers.protocol import Tracer, install_line
from probe_effect.tracers.tool import known_tracers
from probe_effect.wanted import SuiteTurn, by_want, new_here, run_s

USUAL_RUN_S = 0.8
"""Of a run with its tracer's start and end, in a suite that nobody has measured."""

LEAST_RUN_S = 0.2


def tracers_here() -> dict[str, Tracer]:
    """The tracers that this system may have: outside of Linux DTrace alone."""
    known = known_tracers()
    return known if platform.system() == "Linux" else {name: one for name, one in known.items() if one.tool == "dtrace"}


def works_here(data: DataFolder) -> list[Work]:
    """The suites that build no project, with what can be measured of each."""
    ready = {name: one for name, one in tracers_here().items() if one.available() is None}
    suites = choose_suites(data, [])
    return [resolve(folder, suite, ready, []) for folder, suite in suites if suite.workload.project is None]


def known_numbers(data: DataFolder, results: Path) -> Catalogue:
    """The numbers of the data, with those of the complete submissions in a folder of results. Raises: BadData.

    Where the data folder has no suites of its own, as outside of a checkout, the data are those of the program too.
    """
    given = data.submissions()
    if not (data.root / "suites").is_dir():
        given += DataFolder(PACKAGED).submissions()
    places = {one.id: one for one in (*given, *submissions_in(results)) if not one.plan_file.exists()}
    return read_numbers(data, list(places.values()))


def turns_here(catalogue: Catalogue, works: Collection[Work]) -> list[SuiteTurn]:
    """A turn for each suite of which anything can be measured, the most wanted first."""
    kind = kind_of(facts_of(collect.collect_machine(), ""))
    return by_want(_turn(catalogue, work, kind) for work in works if work.measured)


def _turn(catalogue: Catalogue, work: Work, kind: tuple[str, str, str]) -> SuiteTurn:
    cases = list(dict.fromkeys(subject.case for subject in work.measured))
    first, own = new_here(catalogue, kind, cases)
    runs = len(work.measured) + 2 * len(work.levels)
    usual_s = max(run_s(catalogue).get(work.suite.id, USUAL_RUN_S), LEAST_RUN_S)
    saved_s = (work.suite.workload.seconds or THOROUGH.traced_s) - QUICK.traced_s
    return SuiteTurn(
        suite=work.suite.id,
        cases=len(cases),
        first=first,
        own=own,
        block_s=runs * usual_s,
        quick_block_s=runs * max(usual_s - saved_s, LEAST_RUN_S),
    )


BRIEF = ("CPU", "virtual", "system", "user")
"""Of doctor's facts those that matter to an owner."""

SIP = "boot into Recovery, run `csrutil enable --without dtrace`, and start again; afterwards `csrutil enable`"


def show_look(data: DataFolder, *, aside: bool) -> None:
    """What was found, and what the owner may do about it."""
    found = diagnose(choose_suites(data, []), tracers_here())
    show_section("This machine", _brief(found), aside=aside)
    show_section("In this container, for more: start it with", flags_missing(), aside=aside)
    show_section(
        "For less noise: nothing is set, but governor and turbo with --quiet-machine", _noise(found), aside=aside
    )


def _brief(found: Diagnosis) -> Iterator[tuple[str, str]]:
    yield from (row for row in facts(found) if row[0] in BRIEF)
    yield "tracers", ", ".join(one.tracer for one in found.tracers if one.unavailable is None) or "none"
    if lacking := [need for need, reason in found.kernel.items() if reason]:
        yield "lacks", f"{', '.join(lacking)} of the kernel; {typed('doctor')} says why"
    if found.packages:
        yield "install", install_line(found.packages) or " ".join(found.packages)
    if protection := integrity_protection():
        yield "macOS", protection


def integrity_protection() -> str | None:
    """What macOS keeps from DTrace, and what to do; None elsewhere, and where it keeps nothing."""
    if platform.system() != "Darwin":
        return None
    try:
        run = subprocess.run(["csrutil", "status"], capture_output=True, text=True, timeout=10, check=False)  # noqa: S607
    except OSError:
        return None
    whole = "status: enabled" if "DTrace Restrictions:" not in run.stdout else "DTrace Restrictions: enabled"
    return f"System Integrity Protection keeps DTrace from most probes; {SIP}" if whole in run.stdout else None


def _noise(found: Diagnosis) -> Iterator[tuple[str, str]]:
    yield from noise(found)
    cpu = found.workload_cpu
    if (ROOT / CPU_FOLDER).is_dir() and not read_text(ROOT, f"{CPU_FOLDER}/isolated"):
        yield "isolation", f"Others may run on the workload's CPU.\nTo do: boot with isolcpus={cpu} nohz_full={cpu}."
