"""Text to Markdown that means that text and nothing else.

Everything that a page prints passes through `escape`, because titles, notes and figures come from pull requests. Each
ASCII character that Markdown, HTML, Hugo's shortcodes or templates could read as syntax becomes a numeric character
reference: CommonMark 0.31, section 2.5, says that such a reference is never syntax.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from markupsafe import Markup

from probe_effect import units

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


def say(text: str, *values: object) -> Markup:
    """Our own Markdown with values in its braces, each escaped unless it is Markdown already."""
    return Markup(text.format(*map(escape, values)))  # noqa: S704 (`text` is ours)


def safe(text: str) -> Markup:
    """An id or an address as it is: made of what the format of our data limits to plain signs."""
    return Markup(text)  # noqa: S704 (see above)


def link(text: object, href: str) -> Markup:
    return Markup(f"[{escape(text)}]({href})")  # noqa: S704 (`href` is ours, as of `safe`)


def bracketed(text: object, detail: object) -> Markup:
    """`text` with a detail in brackets behind it, where there is one."""
    return say("{} ({})", text, detail) if detail else escape(text)


def listed(values: Iterable[object], between: str = ", ") -> Markup:
    return Markup(between.join(map(escape, values)))  # noqa: S704 (ours, and escaped)


def together(*lines: object) -> Markup:
    """Some lines as one paragraph, without those that are empty."""
    return listed((line for line in lines if line), "\n")


def coded(text: str) -> Markup:
    """`text` escaped; what is plain and between backticks is shown as code."""
    parts = CODE.split(text)
    return Markup("").join(
        Markup(f"`{part}`") if index % 2 else escape(part)  # noqa: S704 (plain, as `CODE` says)
        for index, part in enumerate(parts)
    )


def quoted(text: str) -> Markup:
    """Markdown that is written already, as a block quote."""
    lines = re.sub(r"\n{3,}", "\n\n", text).strip().splitlines()
    return Markup("\n".join(f"> {line}".rstrip() for line in lines))  # noqa: S704 (written by our template)


def is_plain_word(word: str) -> bool:
    """Whether a shell takes `word` as it is and a page may show it as code, where nothing can be escaped."""
    return PLAIN_WORD.fullmatch(word) is not None
