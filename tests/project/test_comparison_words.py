"""Higher or lower overhead, faster, slower, no difference: no page says so but from a comparison, or to define it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from helpers.builders import PROJECT, strings_of
from helpers.contributor import BLOCK as PRINTED
from probe_effect.site.pages import comparison, site
from probe_effect.site.pages.text import escape
from probe_effect.store.kept import NOWHERE
from project.test_layers import MODULES, PACKAGE, layer, literals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from probe_effect.numbers.catalogue import Catalogue

CLAIM = re.compile(
    r"\b(faster|slower|cheaper|cheapest|dearer|dearest|(higher|lower|highest|lowest) overhead|no difference)\b",
    re.IGNORECASE,
)

PLACE = re.compile(r"\]\(#=[\w.-]+\)")
"""The address of a figure, which is its id and no word of the page."""

OF_COMPARISONS = {"compare/comparison.py", "site/pages/comparison.py", "site/pages/outcomes.toml"}
"""The files that have the words; all others take them from a comparison."""

OF_COMMANDS = {"cli", "advising", "trial"}
"""What these print is on no page."""

MAKERS = ("sentence", "summary", "ranking")
"""The functions of `pages.comparison` that return what a page prints."""

DEFINITIONS = (
    "that is the noise floor, and a cost below it is no difference",
    "what “no difference” looks like",
    "It is “no difference” when the interval of the difference contains 0",
    "0.05 reads “5 % slower”",
    "higher overhead, lower overhead, no difference, or not comparable. Times and counts",
    "slower over the run",
    "slower inside blocks",
    "through a slower entry path",
    "the loop of two system calls is 63 to 106 ns slower",
    "more that show no difference are on the pages of the runs",
    "What no difference looks like",
    "0.05 is 5 % slower",
    "% slower, events/s",
    " % slower at ",
    "by how much the whole work is slower",
)
"""Fixed texts that define a word, name a simulated machine, or report a finding with its figures beside it."""


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the makers of sentences and rows return from now on, as pages print it."""
    said: list[str] = []

    def listened(maker: Callable[..., Any]) -> Callable[..., Any]:
        def told(*arguments: object, **named: object) -> object:
            found = maker(*arguments, **named)
            if isinstance(found, str):
                said.append(found)
            elif found is not None:
                _, ratio, outcome = (str(escape(cell)) for cell in found)
                # A table brings differences to one unit, and says once what is the same in every row.
                said.extend([f"{ratio} | {outcome} |", f"**{outcome}**"])
            return found

        return told

    for name in (*MAKERS, "cells"):
        monkeypatch.setattr(comparison, name, listened(getattr(comparison, name)))
    return said


def from_data(catalogue: Catalogue) -> Iterator[str]:
    """What sources say, in their own words or in ours about them; `agrees_if` checks what of it can be checked."""
    for source in catalogue.sources:
        yield from (source.sentence(text) for text in strings_of(source.document.model_dump(mode="json")))
        for figure in source.figures:
            yield from (text for text in (figure.what, figure.note, figure.printed, figure.platform) if text)


def forms(allowed: Iterable[str]) -> list[str]:
    """What may stand on a page of all that is allowed: only what claims something, the longest first."""
    said = {form for one in allowed for form in (one, str(escape(one)))}
    return sorted(filter(CLAIM.search, said), key=len, reverse=True)


def claims(text: str, allowed: list[str]) -> list[str]:
    """What is left of the claims in `text` once the forms allowed are taken out, with some words around each."""
    text = PLACE.sub("]", text)
    if CLAIM.search(text):
        for one in allowed:
            text = text.replace(one, "")
    return [text[max(0, found.start() - 40) : found.end() + 40] for found in CLAIM.finditer(text)]


@pytest.mark.deep
def test_only_comparisons_have_words_that_claim_a_difference() -> None:
    texts = {path: list(literals(path)) for path in MODULES}
    others = [path for ending in ("toml", "j2") for path in PACKAGE.rglob(f"*.{ending}")]
    texts |= {path: [path.read_text(encoding="utf-8")] for path in others}
    allowed = forms(DEFINITIONS)
    claiming = {path for path, strings in texts.items() if any(claims(text, allowed) for text in strings)}
    of_pages = {path.relative_to(PACKAGE).as_posix() for path in claiming if layer(path) not in OF_COMMANDS}
    assert of_pages == OF_COMPARISONS


@pytest.mark.deep
def test_generated_pages_claim_a_difference_only_from_a_comparison(catalogue: Catalogue, made: list[str]) -> None:
    rebuilt = replace(catalogue, kept=NOWHERE)  # a kept page would show claims that this code does not make
    pages = dict(site.content(rebuilt)) | site.fragment_files(rebuilt)
    # Those of numbers may be kept ones: nothing is compared on them.
    pages |= {name: "\n".join(strings_of(json.loads(text))) for name, text in site.number_pages(catalogue)}
    assert any(CLAIM.search(said) for said in made)
    allowed = forms([*made, *DEFINITIONS, *from_data(catalogue)])
    assert {path: found for path, text in pages.items() if (found := claims(text, allowed))} == {}


WRITTEN = [
    *sorted((PROJECT / "content").rglob("*.md")),
    PROJECT / "CONTRIBUTING.md",
]


@pytest.mark.parametrize("path", [pytest.param(path, id=path.relative_to(PROJECT).as_posix()) for path in WRITTEN])
def test_hand_written_pages_claim_no_difference_of_their_own(path: Path) -> None:
    own_words = PRINTED.sub("", path.read_text(encoding="utf-8"))  # the rest our commands print, by the comparison
    assert claims(own_words, forms(DEFINITIONS)) == []


def test_a_claim_that_no_comparison_made_is_found() -> None:
    assert claims("bpftrace is faster than DTrace", forms(DEFINITIONS)) == ["bpftrace is faster than DTrace"]
