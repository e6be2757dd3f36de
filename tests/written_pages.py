"""The pages and fragments that come from data, as tests read them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from probe_effect.site.pages import site

if TYPE_CHECKING:
    from probe_effect.numbers.catalogue import Catalogue


def written(catalogue: Catalogue) -> dict[str, str]:
    """Every page by its path, those of numbers as if each lay in a file of its own."""
    made = dict(site.content(catalogue))
    for _, text in site.number_pages(catalogue):
        for one in json.loads(text):
            made[f"results/{one['path']}.md"] = f"{json.dumps(one['front'], indent=2)}\n\n{one['body']}"
    return made


def with_fragments(catalogue: Catalogue) -> dict[str, str]:
    """The same with every fragment; one of a page's name has its folder before it."""
    made = written(catalogue)
    fragments = site.fragment_files(catalogue)
    return made | {f"fragments/{name}" if name in made else name: text for name, text in fragments.items()}


def split(text: str) -> tuple[dict[str, Any], str]:
    """A page's front matter and its body; fragments have none."""
    if not text.startswith("{\n"):
        return {}, text
    front, end = json.JSONDecoder().raw_decode(text)
    return front, text[end:]
