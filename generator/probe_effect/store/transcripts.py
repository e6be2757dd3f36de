"""Files that commands of ours write: the standard tools of a package, what the guide's commands print, and which
mechanisms of tracing work on a kernel.

`<chapter>.toml` holds the commands of a chapter, written by hand; `recorded/<id>.json` what one of them printed, which
is written by `probe-effect transcripts --write` and never typed.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from probe_effect.model import Problem
from probe_effect.records import beside
from probe_effect.store.beside_files import Day
from probe_effect.store.documents import Document, Slug, Text, read_document, read_documents, without
from probe_effect.store.places import DataFolder
from probe_effect.store.suite_file import Architecture
from probe_effect.store.tables import FORBIDDEN_TEXT

EventRate = Annotated[float, Field(gt=0, le=1e10)]


class ToolProbes(Document):
    """Attach points of one tool that are of one kind and do the same at each event."""

    attach: tuple[Text, ...] = Field(min_length=1, max_length=200)
    kind: Slug
    actions: tuple[Slug, ...] = Field(min_length=1, max_length=100)
    filter: bool = False
    timing: Literal["start", "end"] | None = None
    unknown: tuple[Text, ...] = Field(default=(), max_length=50)


class StandardTool(Document):
    """One tool."""

    name: Text = Field(max_length=60)
    answers: Text
    event: Text
    tracer: Slug | None = None
    usual_from_hz: EventRate | None = None
    usual_to_hz: EventRate | None = None
    usual_source: Text | None = None
    case: Slug | None = None
    remark: Text | None = None
    probes: tuple[ToolProbes, ...] = Field(default=(), max_length=50)

    @model_validator(mode="after")
    def _rate_with_its_source(self) -> Self:
        has_rate = self.usual_from_hz is not None or self.usual_to_hz is not None
        if has_rate != (self.usual_source is not None):
            raise ValueError("a usual rate and `usual_source` come together")
        return self


class ToolPackage(Document):
    """The whole document."""

    schema_version: Literal[1]
    title: Text
    package: Text = Field(max_length=60)
    version: Text = Field(max_length=60)
    where: Text
    tracer: Slug
    stands_in: Text | None = None
    scripts: Text | None = None
    tools: tuple[StandardTool, ...] = Field(min_length=1, max_length=200)


def tool_files(data: DataFolder) -> list[Path]:
    return sorted((data.root / "tools").glob("*.toml"))


read_tools = partial(read_document, rule="tools", model=ToolPackage)


def written(package: ToolPackage) -> str:
    """The document in its one form, as `probe-effect tools --write` leaves it."""
    return _tables(package.model_dump(exclude_defaults=True), "")


def _tables(values: Mapping[str, Any], table: str) -> str:
    """Keys first, then tables: keys below a header of TOML belong to it."""
    keys, tables = "", ""
    for name, value in values.items():
        if isinstance(value, tuple) and any(isinstance(entry, dict) for entry in value):
            tables += "".join(f"\n[[{table}{name}]]\n{_tables(entry, f'{table}{name}.')}" for entry in value)
        else:
            keys += f"{name} = {_value(value)}\n"
    return keys + tables


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool | int | float):
        return str(value).lower()
    return json.dumps(str(value), ensure_ascii=False)  # a string of TOML escapes as one of JSON does


MOST_LINES = 30
MOST_COLUMNS = 104
"""What a page shows of an output without a scroll bar; a command that prints more is to be asked for less."""

ROOT_NEED, TRACEFS_NEED = "root", "tracefs"
NO_COMMANDS = frozenset({ROOT_NEED, TRACEFS_NEED})
"""What a command may need that is no command."""

NOT_PLAIN = re.compile(rf"(?!\n){FORBIDDEN_TEXT.pattern}")
LINES = without(NOT_PLAIN, "holds a control or direction-changing character; write plain lines")

ShellCommand = Annotated[str, StringConstraints(min_length=1, max_length=1000), LINES]
"""One command of the shell, which may take several lines."""

PackageName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=60)]


class Transcript(Document):
    """One command of the guide."""

    id: Slug
    asks: Text
    run: ShellCommand
    beside: ShellCommand | None = None
    needs: tuple[PackageName, ...] = Field(default=(), max_length=10)
    shows: tuple[Text, ...] = Field(min_length=1, max_length=10)

    def missing_from(self, output: tuple[str, ...]) -> list[str]:
        """Those of `shows` that are not found in the lines of an output."""
        text = "\n".join(output)
        return [shown for shown in self.shows if not any(_is_in(text, form) for form in shown.split("|"))]


SIGNS = {"#": "[0-9]++", " ": r"\s++", "^": "^", "$": "$"}
"""What has a meaning in a form: a number, any blanks, the beginning of a line, its end."""


def _is_in(text: str, form: str) -> bool:
    """Whether the parts of a form, between its `*`, are in a text one after the other.

    Each is taken at its first place and none is looked for again, so a form from data takes no time of its own.
    """
    position = 0
    for part in form.split("*"):
        pattern = "".join(SIGNS.get(sign) or re.escape(sign) for sign in part)
        match = re.compile(pattern, re.MULTILINE).search(text, position)
        if match is None:
            return False
        position = match.end()
    return True


class TranscriptFile(Document):
    """The whole document of a chapter."""

    transcript: tuple[Transcript, ...] = Field(min_length=1, max_length=20)


class Recorded(Document):
    """What one command printed, where and when."""

    schema_version: Literal[1] = 1
    id: Slug
    run: ShellCommand
    beside: ShellCommand | None
    output: tuple[Annotated[str, StringConstraints(max_length=MOST_COLUMNS), LINES], ...] = Field(max_length=MOST_LINES)
    exit_status: Annotated[int, Field(ge=-64, le=255)]
    machine: Slug
    kernel: Text
    versions: dict[Text, Text]
    date: Day

    def is_of(self, transcript: Transcript) -> bool:
        """Whether the record was made by the command that the transcript has now."""
        return (self.id, self.run, self.beside) == (transcript.id, transcript.run, transcript.beside)


@dataclass(frozen=True, slots=True)
class Shown:
    """A transcript in its chapter, with its record if there is one."""

    chapter: str
    transcript: Transcript
    recorded: Recorded | None


def recorded_files(data: DataFolder) -> list[Path]:
    return sorted((data.root / "transcripts" / "recorded").glob("*.json"))


def recorded_file(data: DataFolder, transcript_id: str) -> Path:
    return data.root / "transcripts" / "recorded" / f"{transcript_id}.json"


def read_transcripts(data: DataFolder) -> tuple[list[Shown], list[Problem]]:
    """Every transcript of every sound file with its record, in the order of the chapters, and every problem found."""
    records, problems = read_documents(recorded_files(data), data, "transcripts", Recorded)
    paths = sorted((data.root / "transcripts").glob("*.toml"))
    chapters, more = read_documents(paths, data, "transcripts", TranscriptFile)
    each = ((path.stem, transcript) for path, chapter in chapters.items() for transcript in chapter.transcript)
    return [
        Shown(stem, transcript, records.get(recorded_file(data, transcript.id))) for stem, transcript in each
    ], problems + more


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
    paths = sorted((data.root / "mechanisms").glob("*.json"))
    by_path, problems = read_documents(paths, data, "mechanisms", KernelMechanisms)
    return tuple(by_path.values()), problems
