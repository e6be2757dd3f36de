"""The pieces of the section on data: what there is to download."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.pages.markdown import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Download:
    """One thing to download in one form or several: the name of each file, to its bytes."""

    title: str
    rows: int | None
    files: Mapping[str, int]


def write_downloads(downloads: Sequence[Download]) -> str:
    """The table of downloads with their sizes, as a fragment."""
    return render("fragments/downloads.md.j2", downloads=downloads)


@dataclass(frozen=True, slots=True)
class RuleLine:
    """One rule of `check`: its id, what it demands, and an example that keeps it and one that breaks it."""

    id: str
    text: str
    good: str
    bad: str


def write_rules(rules: Mapping[str, Sequence[RuleLine]], of_files: Mapping[str, str]) -> str:
    """Every rule, by what it is of, as a fragment.

    Args:
        rules: "a submission" to its rules.
        of_files: what reading any file demands, by the last part of a problem's rule.
    """
    return render("fragments/rules.md.j2", rules=rules, of_files=of_files)
