"""What `lend` says of the machine before it begins: doctor's findings in brief, and what to set for less noise."""

import platform
import subprocess
from collections.abc import Iterator

from probe_effect.cli.doctor_run import facts, noise
from probe_effect.cli.lend_plan import tracers_here
from probe_effect.cli.tables import show_section
from probe_effect.host import ROOT, read_text, typed
from probe_effect.machine.cpu import CPU_FOLDER
from probe_effect.measure.container import flags_missing
from probe_effect.measure.diagnosis import Diagnosis, diagnose
from probe_effect.measure.request import choose_suites
from probe_effect.store.places import DataFolder
from probe_effect.tracers.packages import install_line

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
