"""Machines that tests may be on: whatever a command knows of its machine it asks of `host/this_machine.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helpers.builders import machine_document
from probe_effect.host import this_machine

if TYPE_CHECKING:
    import pytest

    from probe_effect.store.machine_file import MachineFile


def become(monkeypatch: pytest.MonkeyPatch, document: MachineFile) -> None:
    """Have every command of this process take the document's machine for its own."""
    monkeypatch.setattr(this_machine, "collect_machine", lambda *_: document.machine)
    monkeypatch.setattr(this_machine, "collect_system", lambda *_: document.system)


def stranger(cpu_model: str, architecture: str = "x86_64", **changes: object) -> MachineFile:
    """A machine that no submission knows."""
    own = {"machine__cpu_model": cpu_model, "machine__architecture": architecture, "system__kernel_release": "7.9.1"}
    return machine_document(machine__id="strange-1t-0000", **own | changes)


STRANGERS = {
    "an unknown Intel": stranger("Intel(R) Core(TM) Ultra 7 155H"),
    "an unknown AMD": stranger("AMD Ryzen 7 7840U w/ Radeon 780M Graphics"),
    "another maker": stranger("Hygon C86 7285 32-core Processor"),
    "an arm64 model": stranger("Neoverse-V2", "aarch64"),
    "one without a name": stranger("unknown", machine__cpu_model=None),
}
"""Physical machines of makers and families that no data have, the last of which does not tell."""
