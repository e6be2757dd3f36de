"""`data/mechanisms/<kernel release>.json`: which mechanisms of tracing work on a kernel, found by trying each there."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from probe_effect.model import Problem
from probe_effect.store.beside_files import Day
from probe_effect.store.documents import Document, Slug, Text, read_documents
from probe_effect.store.places import DataFolder
from probe_effect.store.suite_file import Architecture
from probe_effect.toml import beside

MECHANISMS: dict[str, dict[str, str]] = beside(__file__, "mechanisms")
"""Id to `name`, `how` it is tried, and the `case` that counts it, where there is one."""


def _known(name: str) -> str:
    if name not in MECHANISMS:
        raise ValueError("is no mechanism that the tool tries")
    return name


class MechanismTrial(Document):
    """What became of one mechanism."""

    outcome: Literal["works", "load", "attach", "event", "ended", "architecture"]
    error: Annotated[str, Field(pattern=r"^[A-Z0-9]{2,20}$")] | None
    says: Text | None


class KernelMechanisms(Document):
    """All mechanisms on one kernel, each by its id."""

    schema_version: Literal[1] = 1
    kernel_release: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+~-]*$", max_length=100)]
    architecture: Architecture
    kernel: Text
    emulator: Text
    probe_effect: Text
    date: Day
    trials: dict[Annotated[Slug, AfterValidator(_known)], MechanismTrial] = Field(min_length=1)


class MechanismsFile(Document):
    """All mechanisms on all kernels, as the site publishes them."""

    schema_version: Literal[1] = 1
    mechanisms: dict[Slug, dict[str, Text]]
    kernels: tuple[KernelMechanisms, ...]


def read_mechanisms(data: DataFolder) -> tuple[tuple[KernelMechanisms, ...], list[Problem]]:
    """Every sound file, by name, and every problem found."""
    paths = sorted((data.root / "mechanisms").glob("*.json"))
    found, problems = read_documents(paths, data, "mechanisms", KernelMechanisms)
    return tuple(found.values()), problems
