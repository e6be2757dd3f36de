"""Text to Markdown that means that text and nothing else.

Everything a template prints passes through `escape`, because titles, notes and figures come from pull requests. Each
ASCII character that Markdown, HTML, Hugo's shortcodes or templates could read as syntax becomes a numeric character
reference: CommonMark 0.31, section 2.5, says that such a reference is never syntax.
"""

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from probe_effect import units
from probe_effect.numbers import names
from probe_effect.pages import addresses, agreement, comparison, instructions, wording
from probe_effect.pages.results import EXPLAINED
from probe_effect.reduce.reading import code
from probe_effect.store.kept import code_version, library_version
from probe_effect.tools import TOOLS

# Plain are letters, digits, blanks, `"%'(),./;?` and hyphens inside words. "1." and "1)" at a line's start would begin
# a list, and four blanks there would begin code; the rest is syntax somewhere.
SPECIAL = re.compile(r"[!#$&*+:<=>@\[\\\]^_`{|}~]|(?<!\w)-|-(?!\w)|(?<=\d)[.)](?=\s|$)|^ (?= )")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
DIRECTION = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
CODE = re.compile(r"`([A-Za-z0-9][A-Za-z0-9._ ()/-]*)`")
PLAIN_WORD = re.compile(r"(--)?[A-Za-z0-9][A-Za-z0-9._/=-]*")


def escape(value: object) -> Markup:
    """`value` as Markdown that shows exactly its text, on one line."""
    if isinstance(value, Markup):
        return value
    return _escaped(units.MISSING if value is None else str(value))


@lru_cache(maxsize=1 << 16)  # pages of many numbers print the same words again and again
def _escaped(text: str) -> Markup:
    text = DIRECTION.sub("\ufffd", CONTROL.sub(" ", text))
    return Markup(SPECIAL.sub(lambda match: f"&#{ord(match[0])};", text))  # noqa: S704 (this is the escaping)


def coded(text: str) -> Markup:
    """`text` escaped; what is plain and between backticks is shown as code."""
    parts = CODE.split(text)
    return Markup("").join(
        Markup(f"`{part}`") if place % 2 else escape(part)  # noqa: S704 (plain, as `CODE` says)
        for place, part in enumerate(parts)
    )


def quoted(text: str) -> Markup:
    """Markdown that is written already, as a block quote."""
    lines = re.sub(r"\n{3,}", "\n\n", text).strip().splitlines()
    return Markup("\n".join(f"> {line}".rstrip() for line in lines))  # noqa: S704 (written by a template)


def is_plain_word(word: str) -> bool:
    """Whether a shell takes `word` as it is and a page may show it as code, where nothing can be escaped."""
    return PLAIN_WORD.fullmatch(word) is not None


@cache
def environment() -> Environment:
    """The templates of this package, with `escape` on everything printed, and what they ask for words and units."""
    made = Environment(
        loader=PackageLoader("probe_effect.pages"),
        autoescape=True,
        finalize=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    modules = (addresses, agreement, comparison, instructions, names, units, wording)
    made.globals |= {module.__name__.rpartition(".")[2]: module for module in modules}
    made.globals |= {"columns": EXPLAINED, "TOOLS": TOOLS}
    made.tests["plain_word"] = is_plain_word
    made.filters |= {
        "duration": units.duration,
        "percent": units.percent,
        "rate": units.rate,
        "count": units.count,
        "size": units.size,
        "coded": coded,
        "quoted": quoted,
    }
    return made


def page_code() -> str:
    """A digest of what decides, beside the data, what a page of one submission is."""
    return f"{code()} {code_version('numbers', 'compare', 'charts', 'pages')} jinja2 {library_version('jinja2')}"


def render(template: str, by: Environment | None = None, /, **values: object) -> str:
    """The template's text, in our environment or another, with runs of empty lines closed up."""
    text = (by or environment()).get_template(template).render(**values)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def page(template: str, front_matter: Mapping[str, object], **values: object) -> str:
    """A whole page: front matter as JSON, which Hugo reads and which nothing can break out of, then the body."""
    return json.dumps(front_matter, ensure_ascii=False, indent=2) + "\n\n" + render(template, **values)
