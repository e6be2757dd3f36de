"""How something of this site is cited: a sentence for people, and an entry for BibTeX and biblatex."""

import re
from dataclasses import dataclass

from probe_effect import units
from probe_effect.numbers.names import MONTHS, date_words

NAME = "Probe Effect"
AUTHORS = f"The {NAME} authors"

ESCAPES = {
    "\\": "{\\textbackslash}",
    "{": "{\\textbraceleft}",
    "}": "{\\textbraceright}",
    "~": "{\\textasciitilde}",
    "^": "{\\textasciicircum}",
    **{sign: f"\\{sign}" for sign in "&%#_$"},
}
"""Braces by their names, because BibTeX counts escaped ones too."""

PLAIN = str.maketrans({units.GROUP: " ", units.GAP: " "})
"""A citation is pasted into anything: blanks of one kind only."""

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")


@dataclass(frozen=True, slots=True)
class Citation:
    """One thing cited, in both forms."""

    text: str
    bibtex: str


@dataclass(frozen=True, slots=True)
class Edition:
    """Which data is cited and where it is published; a `site` of `/` is one whose address is not known."""

    version: str = ""
    site: str = "/"

    def address(self, path: str) -> str:
        """The whole address of the page at `path`, which begins with `/`."""
        return self.site.rstrip("/") + path

    @property
    def date(self) -> str:
        """The day of its version, ISO; empty where it has none."""
        return self.version.partition(".")[0] if "-" in self.version else ""


UNKNOWN_EDITION = Edition()

LATER_EDITION = Edition("@version@", "@site@")
"""Places that a layout fills in, so that a page is not made again for every version of the data."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is cited: `value` is its number in words, `date` the day (ISO) that it is of."""

    key: str
    title: str
    path: str
    date: str = ""
    value: str = ""
    notes: tuple[str, ...] = ()


def cite(subject: Subject, edition: Edition) -> Citation:
    """Something that this site publishes."""
    version = f"data version {edition.version}" if edition.version else ""
    ours = "; ".join(filter(None, (version, *subject.notes)))
    words = [
        f"{AUTHORS}: “{subject.title}”{f', {subject.value}' if subject.value else ''}.",
        f"{NAME}{f', {ours}' if ours else ''}.",
        edition.address(subject.path),
    ]
    fields = {
        "author": AUTHORS,
        "title": subject.title,
        **_when(subject.date or edition.date),
        "howpublished": f"{NAME}, an open data set of what observing costs",
        "version": edition.version,
        "note": "; ".join(filter(None, (subject.value, *subject.notes))),
        "url": edition.address(subject.path),
    }
    return Citation(plain(" ".join(words)), entry(f"probe-effect-{subject.key}", fields))


def cite_original(key: str, title: str, author: str | None, date: str | None, where: str | None) -> Citation:
    """A source of others, by itself, as far as it says who made it, when (ISO) and where."""
    said = filter(None, (f"“{title}”", date_words(date or ""), where))
    text = f"{f'{author}: ' if author else ''}{', '.join(said)}."
    fields = {"author": author or "", "title": title, **_when(date or ""), "howpublished": where or ""}
    return Citation(plain(text), entry(key, fields))


def entry(key: str, fields: dict[str, str]) -> str:
    """One `@misc` entry; empty fields are left out. Author and title keep their letters and are not taken apart."""
    known = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")  # what every BibTeX takes
    lines = [f"@misc{{{known},"]
    for name, value in fields.items():
        if value:
            text = _address(value) if name == "url" else value if name == "month" else escaped(value)
            braced = "{" + text + "}" if name in {"author", "title"} else text
            lines.append(f"  {name:<12} = {text if name == 'month' else '{' + braced + '}'},")
    return "\n".join([*lines, "}"])


def escaped(text: str) -> str:
    """`text` as TeX that prints just that."""
    return "".join(ESCAPES.get(sign, sign) for sign in plain(text).replace(units.MINUS, "-"))


def plain(text: str) -> str:
    """`text` on one line, without characters that cannot be seen."""
    return CONTROL.sub(" ", text.translate(PLAIN))


def _address(address: str) -> str:
    """An address in a `url` field, which TeX takes as it is; what would end the field is percent-encoded."""
    return re.sub(r"[\s\\{}<>\"]", lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), address)


def _when(date: str) -> dict[str, str]:
    """Year and month of an ISO date, which may be a year alone."""
    parts = date.split("-")
    if not all(part.isdigit() for part in parts):
        return {}
    months = {"month": MONTHS[int(parts[1]) - 1][:3].lower()} if len(parts) > 1 else {}
    return {"year": parts[0]} | months
