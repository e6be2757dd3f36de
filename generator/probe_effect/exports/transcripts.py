"""The commands of the guide with what they printed, for layouts: `transcripts.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probe_effect.numbers import names
from probe_effect.pages import addresses
from probe_effect.store.transcripts import ROOT_NEED

if TYPE_CHECKING:
    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.store.transcripts import Recorded, Transcript


def transcript_values(catalogue: Catalogue) -> list[dict[str, Any]]:
    """Every recorded transcript in the order of the chapters; `chapter` is the stem of its file."""
    return [
        {"chapter": one.chapter, **_values(one.transcript, one.recorded, catalogue)}
        for one in catalogue.transcripts
        if one.recorded is not None
    ]


def _values(one: Transcript, recorded: Recorded, catalogue: Catalogue) -> dict[str, Any]:
    known = next((found for found in catalogue.timed if found.machine == recorded.machine), None)
    return {
        "id": one.id,
        "asks": one.asks,
        "run": one.run.strip("\n"),
        "beside": one.beside or "",
        "is_root": ROOT_NEED in one.needs,
        "output": "\n".join(recorded.output),
        "exit_status": recorded.exit_status,
        "machine": names.machine_label(known) if known else recorded.machine,
        "href": addresses.machine(recorded.machine) if known else "",
        "kernel": recorded.kernel,
        "versions": [names.tool(command, version) for command, version in recorded.versions.items()],
        "date": names.date_words(recorded.date),
    }
