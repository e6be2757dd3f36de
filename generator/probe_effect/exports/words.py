"""What is said of the data wherever it is published: what it is, what its files hold, under which terms."""

from typing import Any

from probe_effect.pages.markdown import environment, render
from probe_effect.toml import beside

WORDS: dict[str, Any] = beside(__file__)
LICENCE: dict[str, str] = WORDS["licence"]


def plain(template: str, **values: object) -> str:
    """The text of a template with nothing in it escaped: for words of our own, which are in files and on no page."""
    return render(template, environment().overlay(autoescape=False, finalize=str), **values)
