"""Times from a guest where KVM does not work: `--vm-accel kvm` with an emulated CPU in place of the host's.

Such times say nothing, and `check` refuses them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.cli import measure_settings
from probe_effect.guests.qemu import MODES, Mode
from probe_effect.guests.testbed import EmulatedMachine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest

    from probe_effect.guests.assembly import Assembly, Wanted
    from probe_effect.guests.qemu import Accelerator

MEMORY = MODES["kvm"].options[2:]
TIMED = Mode(options=("-accel", "tcg,thread=multi", *MEMORY), boot_words="", boot_s=600, counts=False)


def rehearse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every guest emulated as KVM would run it, and have KVM pass for usable."""

    def emulated(
        assembly: Assembly, wanted: Sequence[Wanted], tell: Callable[[str], None], *_: Accelerator | float
    ) -> EmulatedMachine:
        return EmulatedMachine(assembly, wanted, tell, boot_s=TIMED.boot_s)

    monkeypatch.setitem(MODES, "tcg", TIMED)
    monkeypatch.setattr(measure_settings, "trouble", lambda: None)
    monkeypatch.setattr(measure_settings, "EmulatedMachine", emulated)
