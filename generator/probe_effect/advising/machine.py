"""The machine that this runs on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.machine import collect
from probe_effect.numbers.likeness import facts_of

if TYPE_CHECKING:
    from probe_effect.numbers.likeness import Facts


def this_machine() -> Facts:
    """The facts of the machine that this runs on by which it is compared with others."""
    system = collect.collect_system(None)
    return facts_of(collect.collect_machine(), system.kernel_release, vulnerabilities=system.vulnerabilities)
