"""`data/transcripts/`: the commands of the guide, and what each printed when it was run.

`<chapter>.toml` holds the commands of a chapter, written by hand; `recorded/<id>.json` what one of them printed, which
is written by `probe-effect transcripts --write` and never typed.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from probe_effect.model import Problem
from probe_effect.store.beside_files import Day
from probe_effect.store.documents import Document, Slug, Text, read_document, without
from probe_effect.store.places import DataFolder
from probe_effect.store.tables import FORBIDDEN_TEXT

MOST_LINES = 30
MOST_COLUMNS = 104
"""What a page shows of an output without a scroll bar; a command that prints more is to be asked for less."""

ROOT_NEED, TRACEFS_NEED = "root", "tracefs"
NO_COMMANDS = frozenset({ROOT_NEED, TRACEFS_NEED})
"""What a command may need that is no command."""


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from error
    return text


LINES = without(
    re.compile(rf"(?!\n){FORBIDDEN_TEXT.pattern}"),
    "holds a control or direction-changing character; write plain lines",
)

ShellCommand = Annotated[str, StringConstraints(min_length=1, max_length=1000), LINES]
"""One command of the shell, which may take several lines."""

OutputLine = Annotated[str, StringConstraints(max_length=MOST_COLUMNS), LINES]
Pattern = Annotated[Text, AfterValidator(_pattern)]
PackageName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=60)]


class Transcript(Document):
    """One command of the guide."""

    id: Slug
    asks: Text
    run: ShellCommand
    beside: ShellCommand | None = None
    needs: tuple[PackageName, ...] = Field(default=(), max_length=10)
    shows: tuple[Pattern, ...] = Field(min_length=1, max_length=10)

    def missing_from(self, output: tuple[str, ...]) -> list[str]:
        """Those of `shows` that are not found in the lines of an output."""
        text = "\n".join(output)
        return [pattern for pattern in self.shows if not re.search(pattern, text, re.MULTILINE)]


class TranscriptFile(Document):
    """The whole document of a chapter."""

    transcript: tuple[Transcript, ...] = Field(min_length=1, max_length=20)


class Recorded(Document):
    """What one command printed, where and when."""

    schema_version: Literal[1] = 1
    id: Slug
    run: ShellCommand
    beside: ShellCommand | None
    output: tuple[OutputLine, ...] = Field(max_length=MOST_LINES)
    exit_status: Annotated[int, Field(ge=-64, le=255)]
    machine: Slug
    kernel: Text
    versions: dict[Text, Text]
    date: Day

    def is_of(self, transcript: Transcript) -> bool:
        """Whether it was made by the command that the transcript has now."""
        return (self.id, self.run, self.beside) == (transcript.id, transcript.run, transcript.beside)


@dataclass(frozen=True, slots=True)
class Shown:
    """A transcript in its chapter, with its record if there is one."""

    chapter: str
    """The stem of the chapter's file."""
    transcript: Transcript
    recorded: Recorded | None


def recorded_files(data: DataFolder) -> list[Path]:
    """The record of every transcript, by id."""
    return sorted((data.root / "transcripts" / "recorded").glob("*.json"))


def recorded_file(data: DataFolder, transcript_id: str) -> Path:
    """Where the record of a transcript lies, or would."""
    return data.root / "transcripts" / "recorded" / f"{transcript_id}.json"


def read_transcripts(data: DataFolder) -> tuple[list[Shown], list[Problem]]:
    """Every transcript of every sound file with its record, in the order of the chapters, and every problem found."""
    problems: list[Problem] = []
    records: dict[str, Recorded] = {}
    for path in recorded_files(data):
        record, faults = read_document(path, data.relative(path), "transcripts", Recorded)
        problems += faults
        if record is not None:
            records[path.stem] = record
    shown: list[Shown] = []
    for path in sorted((data.root / "transcripts").glob("*.toml")):
        document, faults = read_document(path, data.relative(path), "transcripts", TranscriptFile)
        problems += faults
        shown += (Shown(path.stem, one, records.get(one.id)) for one in (document.transcript if document else ()))
    return shown, problems
