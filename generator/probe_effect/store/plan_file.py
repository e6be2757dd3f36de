"""`plan.json`: what a run under way is to do, beside its rows; gone when the run is complete.

With it a run that was cut short continues the same plan: the same cases, order and lengths. It may hold paths, which a
submission does not, so `check` refuses a folder that still has one.
"""

from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from probe_effect.model import Status
from probe_effect.store.documents import Document, Slug, Text, read_document


class PlannedSubject(Document):
    """A case with a tracer, and how it is run; `status` and `note` say why it is not."""

    case: Slug
    tracer: Slug
    level: Text | None = Field(default=None, description="The level of the suite's factor; null where it has none.")
    operations: Annotated[int, Field(ge=1)] | None = Field(description="Operations of a run; null: not to be run.")
    is_counted_apart: bool = Field(description="Whether a counting twin runs once.")
    status: Status = "ok"
    note: Text | None = None


class PlanFile(Document):
    """The whole document."""

    schema_version: Literal[1]
    digest: Text = Field(description="SHA-256 over the suite's files: another one, another plan.")
    baseline_operations: Annotated[int, Field(ge=1)] | None = Field(
        description="Operations of a baseline run; null where the suite has a factor."
    )
    level_operations: dict[Text, Annotated[int, Field(ge=1)]] = Field(
        default={}, description="Level to the operations of its baseline runs."
    )
    subjects: tuple[PlannedSubject, ...]
    programs: dict[Slug, Text] = Field(description="Tracer id to the path of its program, where one was given.")
    tree: Text | None = Field(
        default=None,
        description="Folder of the source tree that was named to be built; null: the suite's project, or none.",
    )
    continued_by: tuple[Text, ...] = Field(
        default=(), description="Words of the command that continues the run, after the program's name."
    )
    is_quick: bool = Field(description="Whether runs are short.")


read_plan_file = partial(read_document, rule="plan", model=PlanFile)
