"""`probe-effect doctor --vm`: which mechanisms of tracing a kernel has, each tried in an emulated machine."""

import errno
from datetime import UTC, datetime
from pathlib import Path

from probe_effect import __version__, guests
from probe_effect.cli import output
from probe_effect.cli.measure_settings import CACHE
from probe_effect.cli.tables import show_section
from probe_effect.guests.assembly import Assembly, assemble
from probe_effect.guests.debian import ARCHITECTURES, locked
from probe_effect.guests.kernel import find_kernel
from probe_effect.guests.testbed import EmulatedMachine
from probe_effect.host.compilers import own_cache
from probe_effect.store.transcripts import MECHANISMS, KernelMechanisms, MechanismTrial

TRIALS = Path(str(guests.__file__)).with_name("mechanisms.c")
"""The program that tries them. Of each it prints id, outcome, number of the error, and words, parted by tabs."""

ERRORS = dict(errno.errorcode) | {524: "ENOTSUPP"}
"""The kernel's own errors too (include/linux/errno.h)."""


def run(words: str, architecture: str, output_format: str) -> None:
    """Print what became of each on the kernel that is named. Raises: UsageError, HostNotReady."""
    cache = own_cache(CACHE)
    with locked(cache):
        kernel = find_kernel(words, cache, ARCHITECTURES[architecture])
        assembly = assemble(ARCHITECTURES[architecture], kernel, (), (), cache, more=(TRIALS,))
    output.say(f"booting {kernel.origin}")
    with EmulatedMachine(assembly, (), output.say) as machine:
        found = _document(assembly, *machine.mechanisms(assembly.programs[TRIALS].path))
    if output_format == "json":
        output.product_json(found.model_dump())
        return
    rows = (
        (MECHANISMS[name]["name"], *map(str, filter(None, (one.outcome, one.error, one.says))))
        for name, one in found.trials.items()
    )
    show_section(f"Mechanisms of tracing on {found.kernel_release}", rows)


def _document(assembly: Assembly, release: str, lines: list[str]) -> KernelMechanisms:
    return KernelMechanisms(
        kernel_release=release,
        architecture=assembly.emulator.architecture.machine,  # type: ignore[arg-type]
        kernel=assembly.packages["kernel"],
        emulator=str(assembly.emulator.version()),
        probe_effect=__version__,
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        trials=dict(map(_trial, lines)),
    )


def _trial(line: str) -> tuple[str, MechanismTrial]:
    name, outcome, code, says = line.split("\t", 3)
    error = None if code == "0" or outcome == "ended" else ERRORS.get(int(code), f"E{code}")
    return name, MechanismTrial.model_validate({"outcome": outcome, "error": error, "says": says.strip() or None})
