"""The words of an answer: one set for the terminal, for pages, and for the script of the page that answers."""

from probe_effect.stats.robust import MIN_BLOCKS
from probe_effect.toml import beside

WORDS: dict[str, str] = beside(__file__)
"""Sentences and their parts, by key, with named places."""

WORDS["no-interval"] = WORDS["no-interval"].format(blocks=MIN_BLOCKS)
