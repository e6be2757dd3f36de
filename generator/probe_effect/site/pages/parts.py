"""A page: its front matter and a list of parts, which one template prints as Markdown for Hugo.

Text is a part by itself: `Markup` is Markdown already, and any other text is escaped. A page lists its parts in the
order in which a reader sees them.

What is true of tables is decided here and nowhere else: a column has one unit, and its words are in `columns.toml`. A
column that says the same in every row is said once, above the table, so that the others have its room.
Headers link to their entry, `/data/dictionary/#<id>`.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal, NamedTuple, Self

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from probe_effect import units
from probe_effect.model import Estimate
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import code
from probe_effect.numbers.submission import Number
from probe_effect.records import beside
from probe_effect.site.pages import addresses
from probe_effect.site.pages.text import escape, is_plain_word, link, listed, quoted, safe, say
from probe_effect.store.beside_files import SourceFile
from probe_effect.store.kept import code_version, library_version
from probe_effect.store.machine_file import MachineFile

NOT_STATED = "not stated"

UNCLEAR = "not distinguishable from 0 (below ", ")"  # the words around what a cost that is no difference is at most

THRESHOLD_COLUMN = (
    "“5\u00a0% at” is the rate of events at which one busy thread slows by 5\u00a0%; it slows by 1\u00a0% at a fifth "
    "of that rate, and by 30\u00a0% at six times."
)
"""The note that derives the other two thresholds from the one in a table."""


def cost(case: Number) -> str:
    """The cost of a case; where it is no difference, in words, with what it may be at most."""
    if case.cost is None:
        return case.status
    if case.distinguishable is False:
        return unclear(case.cost.high, case.time.noise_floor_ns)
    return units.within(units.interval(case.cost, units.DURATION), after=", with losses" if case.has_losses else "")


def unclear(high_ns: float | None, floor_ns: float | None) -> str:
    """A cost that is no difference, with the most that it can be: its high end, and no less than the noise floor."""
    return units.within(units.duration(max(high_ns or 0.0, floor_ns or 0.0), 2), *UNCLEAR)


def slowdown(case: Number) -> str:
    """Slowdown of the workload itself, which does nothing but fire the probe."""
    if case.distinguishable is not False:
        return units.interval(case.time.slowdown, units.SHARE)
    most = most_slowdown(case)
    return units.MISSING if most is None else f"at most {units.percent(most, 2)}"


def most_slowdown(case: Number) -> float | None:
    """What the slowdown may be at most where it is no difference, as a ratio; None where that is not known."""
    cost, baseline = case.bounded_cost.high, case.baseline
    return None if cost is None or not baseline or not baseline.value else max(0.0, cost) / baseline.value


def threshold(case: Number, percent: int) -> str:
    return units.interval(case.threshold(percent), units.RATE)


def taken(case: Number, estimate: Estimate | None) -> str:
    """The time, or the instructions, that starting or stopping the tracer took."""
    return units.interval(estimate, units.DURATION) if case.is_time else units.spread(estimate, units.MANY_INSTRUCTIONS)


def tracer_cpu(case: Number) -> str:
    """CPU time of the tracer itself: for an operation where that was measured, else for a run."""
    return units.interval(case.own_use.cpu or case.time.cpu, units.DURATION)


def from_to(values: Collection[float], written: Callable[[float, int], str] = units.duration) -> str:
    """The least and the greatest of some values, ns unless `written` says otherwise: `27 ns to 34 µs`."""
    return " to ".join(dict.fromkeys(written(end, 2) for end in (min(values), max(values))))


def source_label(document: SourceFile) -> str:
    """Who and when, as a table or a caption calls a source; the title where no author is stated."""
    who = document.title if document.author == NOT_STATED else document.author
    return who if document.date == NOT_STATED else f"{who}, {names.date_words(document.date)}"


def tier(document: MachineFile) -> str:
    """The tier of a machine as readers see it; times of different tiers never share a ranking."""
    return names.tier_words(names.tier(document.machine, document.run.metric))


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column: its id, its header, what a cell says, the unit of its cells, and how they are aligned."""

    id: str
    label: str
    meaning: str
    unit: str = ""
    align: Literal["left", "right", "center"] = "left"


COLUMNS = {name: TableColumn(name, **fields) for name, fields in beside(__file__, "columns").items()}
"""Column id to column, in the order of the dictionary."""


class Link(NamedTuple):
    """A cell, or a part of one, that leads somewhere; `#=<id>` makes it a place that others can lead to."""

    text: object
    href: str


class Pieces(tuple[object, ...]):
    """A cell of several parts, one after the other: texts, quantities, links, Markdown."""

    __slots__ = ()

    @classmethod
    def joined(cls, cells: Iterable[object], between: str) -> Self:
        """Some cells as one, with a text between them."""
        return cls(part for at, cell in enumerate(cells) for part in (between if at else "", *_parts(cell)))


class Group(NamedTuple):
    """A row that names those below it, up to the next such."""

    text: object


AS_PRINTED = frozenset({"value", "printed", "usual-rate"})
"""Columns of several quantities, or of figures as others printed them, which have no unit in common."""

WORDS_OF_IDS: Mapping[str, Callable[[str], str]] = {
    "level": names.level,
    "tracer": names.tracer_name,
    **dict.fromkeys(("probe", "action"), lambda name: name.replace("-", " ")),
}
"""What readers see in the place of the ids in a column."""

WHERE_COUNTED = frozenset({"expected", "seen", "lost"})
"""Columns of the runs that counted events; where all of these runs say the same, it is said once."""


def column(name: str, label: str | None = None) -> TableColumn:
    """A column of the dictionary, perhaps under another header."""
    return replace(COLUMNS[name], label=label) if label else COLUMNS[name]


def columns(*names: str | tuple[str, str]) -> list[TableColumn]:
    """Columns of the dictionary; `(name, label)` is one under another header."""
    return [column(name) if isinstance(name, str) else column(*name) for name in names]


def of_data(label: object, align: Literal["left", "right"] = "right") -> TableColumn:
    """A column whose header is data, such as the release of a kernel, and which no dictionary explains."""
    return TableColumn("", escape(label), "", align=align)


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows; a row is a cell for each column, or a `Group`.

    A cell is a text, a `units.Quantity`, a `Link`, Markdown, a `Pieces` of such, or None for what is not known.
    """

    columns: Sequence[TableColumn]
    rows: Sequence[Sequence[object] | Group]
    kind = "table"

    @classmethod
    def of_cells(cls, names: Sequence[str], rows: Iterable[Mapping[str, object]]) -> Self:
        """The columns of the dictionary with those names, of rows that have their cells by name."""
        return cls(columns(*names), [[row.get(name, "") for name in names] for row in rows])

    @classmethod
    def of_facts(cls, facts: Mapping[Any, object]) -> Self:
        """Labels and values, without a header."""
        return cls((of_data("", "left"), of_data("", "left")), list(facts.items()))

    @property
    def heads(self) -> list[Markup]:
        """The header of each column, which leads to the dictionary where that has it."""
        return [_head(column.label, column.id) for column in self.columns]

    def shown(self) -> tuple[Markup, Self]:
        """A sentence of what all rows say, and the table without it: one unit a column, and each cell Markdown."""
        cells = [row for row in self.rows if not isinstance(row, Group)]
        ids = list(zip(*cells, strict=True)) or [()] * len(self.columns)
        by_column = [_in_words(head, own) for head, own in zip(self.columns, ids, strict=True)]
        texts = [_texts(head, own) for head, own in zip(self.columns, by_column, strict=True)]
        once = [self._said_once(at, own, texts[at]) for at, own in enumerate(by_column)]
        left = [at for at, text in enumerate(once) if text is None]
        rows = zip(*(texts[at] for at in left), strict=True)
        shown = [
            [say("**{}**", row.text), *[Markup()] * (len(left) - 1)] if isinstance(row, Group) else next(rows)
            for row in self.rows
        ]
        same = [say("{} **{}**", self.heads[at], text) for at, text in enumerate(once) if text]
        start = "Where they were counted" if self.columns[0].id == "block" else "In every row"
        sentence = say("{}: {}.", start, listed(same, "; ")) if same else Markup()
        heads = [_aligned(self.columns[at], texts[at]) for at in left]
        return sentence, type(self)(heads, shown)

    def _said_once(self, at: int, cells: Sequence[object], texts: Sequence[Markup]) -> Markup | None:
        """What a column says in all of several rows, if it is not their own name; None where it stays a column."""
        head = self.columns[at]
        if self.columns[0].id == "block":
            counted = set(filter(None, texts))
            return next(iter(counted), Markup()) if head.id in WHERE_COUNTED and len(counted) < 2 else None
        is_name = at == 0 and (head.id != "machine" or len(cells) < len(self.rows) or len(self.columns) == 1)
        links = [part for cell in cells for part in _parts(cell) if isinstance(part, Link)]
        has_place = any(target.href.startswith("#=") for target in links)
        if not head.id or is_name or has_place or len(cells) <= (2 if head.align == "right" else 1):
            return None
        plain = {listed(map(_text, _parts(cell)), "") for cell in cells}
        return None if len(plain) > 1 else texts[0] if len(set(texts)) == 1 else plain.pop()


@cache  # the same few for thousands of pages
def _head(label: str, column: str) -> Markup:
    return link(label, addresses.column(column)) if column else escape(label)


def _in_words(column: TableColumn, cells: Sequence[object]) -> Sequence[object]:
    words = WORDS_OF_IDS.get(column.id)
    return [words(cell) if type(cell) is str else cell for cell in cells] if words else cells


def _aligned(head: TableColumn, texts: Sequence[Markup]) -> TableColumn:
    """The column; one of levels that are names and no numbers begins at the left."""
    has_names = head.id == "level" and not all(text.replace(units.GROUP, "").isdecimal() for text in texts if text)
    return replace(head, align="left") if has_names else head


def _texts(head: TableColumn, cells: Sequence[object]) -> list[Markup]:
    """The cells of a column as Markdown, in one unit if they have one in common."""
    if not head.label or head.id in AS_PRINTED:
        return [markdown(cell) for cell in cells]
    parts = [list(_parts(cell)) for cell in cells]
    in_one = iter(units.in_one_unit([_text(part) for some in parts for part in some]))
    return [listed((_linked(part, next(in_one)) for part in some), "") for some in parts]


def markdown(cell: object) -> Markup:
    return listed((_linked(part, _text(part)) for part in _parts(cell)), "")


def _parts(cell: object) -> Iterable[object]:
    return cell if isinstance(cell, Pieces) else (cell,)


def _text(part: object) -> object:
    return part.text if isinstance(part, Link) else part


def _linked(part: object, text: object) -> Markup:
    return link(text, part.href) if isinstance(part, Link) else escape(text)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, perhaps with an address of its own that stays when its words change."""

    text: object
    level: int = 2
    anchor: str = ""
    kind = "heading"


@dataclass(frozen=True, slots=True)
class Items:
    """A list; an item may have items of its own below it, as `(item, items)`."""

    items: Sequence[object]
    is_numbered: bool = False
    kind = "items"

    def __bool__(self) -> bool:
        return bool(self.items)

    @property
    def lines(self) -> Iterator[tuple[str, Markup]]:
        for number, item in enumerate(self.items, start=1):
            text, below = item if isinstance(item, tuple) else (item, ())
            yield f"{number}." if self.is_numbered else "-", escape(text)
            yield from (("    -", escape(detail)) for detail in below)


@dataclass(frozen=True, slots=True)
class Fold:
    """Parts that are folded until a reader asks for them, under a title (layouts/_markup/render-blockquote.html)."""

    title: object
    parts: Sequence["Part"]
    kind = "fold"


@dataclass(frozen=True, slots=True)
class Code:
    """A text of our own as code in a language."""

    text: str
    language: str
    kind = "code"


Part = str | Heading | Items | Table | Fold | Code | None  # None, like an empty text, prints nothing


def command(words: Sequence[str]) -> Part:
    """A command as code, where nothing can be escaped: only where every word of it is plain."""
    text = " ".join(words)
    return Code(text, "") if all(map(is_plain_word, words)) else say("**{}**", text)


def shortcode(name: str, argument: str, flag: str = "") -> Markup:
    """A shortcode of Hugo with an id or a path of ours, as `site/README.md` has them."""
    return safe(f'{{{{< {name} "{argument}"{flag and " " + flag} >}}}}')


chart = partial(shortcode, "chart")  # a chart with its title, its sentence and its files
icicle = partial(shortcode, "icicle")  # the drawing of that name in the page's front matter
script = partial(shortcode, "script")
"""A script of a suite, `<suite>/<file>`; with the flag `line` a link with its first line alone."""
reference = partial(shortcode, "reference")
"""The mark of a statement that can be checked in a kernel's or tool's source."""


def section(title: object, *parts: Part, level: int = 2) -> list[Part]:
    """A heading with its parts; nothing at all where there are none of these."""
    printed = [part for part in parts if part]
    return [Heading(title, level), *printed] if printed else []


def fold(title: object, *parts: Part) -> list[Part]:
    """The parts folded under a title; nothing at all where there are none."""
    printed = [part for part in parts if part]
    return [Fold(title, printed)] if printed else []


def fragment(parts: Iterable[Part]) -> str:
    text = _template().render(parts=[part for part in parts if part])
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def page(front: Mapping[str, object], parts: Iterable[Part]) -> str:
    """A whole page: front matter as JSON, which Hugo reads and which nothing can break out of, then its parts."""
    return json.dumps(front, ensure_ascii=False, indent=2) + "\n\n" + fragment(parts)


def page_code() -> str:
    """A digest of what decides, beside the data, what a page of one submission is."""
    ours = code_version("numbers", "compare", "costs", "site/charts", "site/pages")
    return f"{code()} {ours} jinja2 {library_version('jinja2')}"


@cache
def _template() -> Template:
    """The one template, with `escape` on everything that it prints."""
    made = Environment(
        loader=PackageLoader("probe_effect.site.pages"),
        autoescape=True,
        finalize=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    made.filters["quoted"] = quoted
    return made.get_template("page.md.j2")
