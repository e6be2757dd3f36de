"""`data/suites/<suite>/suite.toml`: a suite and its cases, as data; the scripts lie beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from probe_effect.store.documents import Document, Slug, Text, read_document

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Problem

SCRIPT_SUFFIXES = {"bpftrace": ".bt", "dtrace": ".d"}
"""Tracer id to the ending of its scripts."""


class Workload(Document):
    """The program that performs the events."""

    program: Annotated[str, Field(pattern=r"^[a-z0-9-]+\.c$")] = Field(description="C source in `workload/`.")
    operation: Text = Field(description="What one operation is, in words.")


class Case(Document):
    """One thing measured: a probe and an action."""

    id: Slug
    title: Text
    probe: Slug = Field(description="Kind of probe.")
    action: Slug = Field(description="What the probe does when it fires.")
    what: Text = Field(description="One sentence for readers: what is measured.")
    needs: tuple[Literal["kprobe", "uprobe", "tracepoint"], ...] = Field(
        default=(), description="Kernel facilities without which the case is skipped."
    )
    counted_by: Literal["maps", "lines", "twin", "nothing"] = Field(
        description="How events are counted: the script's own maps or printed lines, a counting twin "
        "(`<case>.check.<ending>`) run apart, or nothing (no event is expected)."
    )


class Suite(Document):
    """The whole document."""

    schema_version: Literal[1]
    id: Slug
    version: Annotated[int, Field(ge=1)]
    title: Text
    question: Text
    description: Text
    workload: Workload
    cases: tuple[Case, ...] = Field(min_length=1)

    def case(self, case_id: str) -> Case | None:
        """The case with that id, or None."""
        return next((case for case in self.cases if case.id == case_id), None)


def script_path(folder: Path, case_id: str, tracer: str, *, check: bool = False) -> Path | None:
    """The script of a case for a tracer, or None when the suite has none. `check` asks for the counting twin."""
    ending = SCRIPT_SUFFIXES.get(tracer)
    if ending is None:
        return None
    path = folder / f"{case_id}{'.check' if check else ''}{ending}"
    return path if path.is_file() else None


def read_suite(folder: Path, file: str) -> tuple[Suite | None, list[Problem]]:
    """The suite in `folder`, or None with every problem found."""
    return read_document(folder / "suite.toml", file, "suite", Suite)
