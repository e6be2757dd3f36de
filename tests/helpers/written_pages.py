"""The pages and fragments that come from data, as tests read them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt

from probe_effect.site.pages import site

if TYPE_CHECKING:
    from probe_effect.numbers.catalogue import Catalogue

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
SHORTCODE = re.compile(r'^(> )?\{\{< (chart|script) "[a-z0-9./-]+" >\}\}$', re.MULTILINE)


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


def seen(text: str) -> str:
    """What a reader sees of Markdown, blanks made alike; cells are apart by lines."""
    if text.startswith("{\n"):
        text = text[json.JSONDecoder().raw_decode(text)[1] :]
    inlines = (token for token in PARSER.parse(SHORTCODE.sub("", text)) if token.type == "inline")
    words = "\n".join("".join(child.content or " " for child in one.children or []).strip() for one in inlines)
    return re.sub(" +", " ", words.replace("\u00a0", " ").replace("\u202f", " "))
