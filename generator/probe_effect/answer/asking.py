"""What readers ask in their own words: kinds of probe as what they want to see, and actions as what is done with it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
QUESTIONS: dict[str, dict[str, str]] = _WORDS["questions"]
"""By group, in the order in which they are offered: kind of probe to what its reader wants to see."""

ACTIONS: dict[str, str] = _WORDS["actions"]
"""Action to what is done at each event."""


def questions(kinds: Iterable[str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The groups that have some of `kinds`, each with those and their words; what has no words is in a last group."""
    left = set(kinds)
    grouped = [
        (group, [(kind, words) for kind, words in own.items() if kind in left]) for group, own in QUESTIONS.items()
    ]
    known = {kind for own in QUESTIONS.values() for kind in own}
    others = [(kind, kind.replace("-", " ")) for kind in sorted(left - known)]
    return [(group, own) for group, own in (*grouped, ("Other probes", others)) if own]


def action_words(action: str) -> str:
    """What is done at each event; an action without words is its own."""
    return ACTIONS.get(action, action.replace("-", " "))
