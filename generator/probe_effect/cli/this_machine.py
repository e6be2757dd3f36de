"""The machine that asks."""

from __future__ import annotations

from probe_effect.host import ROOT
from probe_effect.machine.collect import collect_machine
from probe_effect.machine.kernel import kernel_release, vulnerabilities
from probe_effect.numbers.likeness import Facts, facts_of


def this_machine() -> Facts:
    """What likeness looks at, of the machine that this runs on."""
    return facts_of(collect_machine(), kernel_release(ROOT), vulnerabilities=vulnerabilities(ROOT))
