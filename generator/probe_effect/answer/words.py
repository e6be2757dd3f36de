"""The words of an answer: one set for the terminal, for pages, and for the script of the page that answers."""

import tomllib
from pathlib import Path

from probe_effect.stats.signed_rank import MIN_BLOCKS

WORDS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
"""Sentences and their parts, by key, with named places."""

WORDS["no-interval"] = WORDS["no-interval"].format(blocks=MIN_BLOCKS)
