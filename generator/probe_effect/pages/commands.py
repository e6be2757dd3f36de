"""Commands as pages show them: the run's own, and the one that measures a single case again."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from probe_effect.numbers import names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.reduce.submission import Number

PLAIN_WORD = re.compile(r"(--)?[A-Za-z0-9][A-Za-z0-9._/=-]*")


def is_plain_word(word: str) -> bool:
    """Whether a shell takes `word` as it is and a page may show it as code, where nothing can be escaped."""
    return PLAIN_WORD.fullmatch(word) is not None


def again(one: Number) -> str:
    """The command that measures just this case with this tracer, as the run's own did."""
    run = one.submission.document.run
    words = ["probe-effect", "measure", run.suite, *_option(run.command, "--vm")]
    words += ["--case", one.case, "--tracer", _tracer(run.command, one.tracer), "--blocks", str(run.blocks)]
    return " ".join(words)


def _option(command: Sequence[str], name: str) -> list[str]:
    """An option of the run's command with its value, where that is a plain word."""
    values = [value for option, value in pairwise(command) if option == name]
    return [name, values[0]] if values and is_plain_word(values[0]) else []


def _tracer(command: Sequence[str], tracer: str) -> str:
    """A tracer as `--tracer` takes it; another version is given by the path of its program."""
    tool = names.tool_of(tracer)
    if tool == tracer:
        return tracer
    path = next((word.partition("=")[2] for word in command if word.startswith(f"{tool}=")), "")
    # A bare name says nothing about where the other version lay.
    return f"{tool}={path}" if "/" in path and is_plain_word(path) else f"{tool}=PATH"
