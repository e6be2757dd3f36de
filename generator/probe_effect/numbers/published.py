"""Published figures, recomputed: does what a source prints follow from the raw figures that it prints too?"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from probe_effect import units
from probe_effect.model import AgreementVerdict
from probe_effect.stats.formula import FormulaError, evaluate, holds
from probe_effect.store.source_file import UNIT_SCALE, Figure, Finding

CLOSE_RATIO = Fraction(2, 100)
"""A recomputation within 2 % differs only by the rounding of its operands."""

SHORT = 16
"""A number and its unit; up to this length it does not break over a line."""

PUBLISHED_MARK = "†"
DERIVED_MARK = "‡"
"""Behind what others printed, and behind what was worked out here from what they printed."""

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")

UNIT_IN_PRINT = re.compile(r"[A-Za-zµ%]")

NO_UNIT = ("count", "ratio")

UNIT_WORDS = {"percent": "%", "us": "µs", "hz": "events/s", "count": "", "ratio": "times"}


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A printed figure beside what its formula gives, both in the figure's own unit."""

    figure: Figure
    value: Fraction
    verdict: AgreementVerdict


def figure_values(figures: Sequence[Figure]) -> dict[str, Fraction]:
    """Figure id to its value in base units, as formulas use them."""
    return {figure.figure: figure.base_value for figure in figures}


def recompute(figure: Figure, values: Mapping[str, Fraction]) -> Recomputed | None:
    """What the formula of `figure` gives; None without a formula. Raises: FormulaError."""
    if figure.formula is None:
        return None
    value = evaluate(figure.formula, values) / UNIT_SCALE[figure.unit]
    return Recomputed(figure, value, compare(figure.value, value))


def compare(printed: Decimal, value: Fraction) -> AgreementVerdict:
    """`agrees` when `value` rounds to the digits printed, `close` within 2 % or two of the last digit."""
    exponent = printed.as_tuple().exponent
    last_digit = Fraction(10) ** (exponent if isinstance(exponent, int) else 0)
    difference = abs(Fraction(printed) - value)
    if difference <= last_digit / 2:
        return "agrees"
    if difference <= max(2 * last_digit, CLOSE_RATIO * abs(value)):
        return "close"
    return "differs"


def stands(finding: Finding, values: Mapping[str, Fraction]) -> bool:
    """Whether the figures still contradict each other as `finding` says. Raises: FormulaError."""
    return finding.agrees_if is None or not holds(finding.agrees_if, values)


def figure_text(figure: Figure) -> str:
    """A figure as prose shows it: as printed, or our own value with its unit."""
    if figure.printed is not None:
        return figure.printed.replace(" ", "\u00a0") if len(figure.printed) <= SHORT else figure.printed
    return with_unit(float(figure.value), figure.unit)


def printed_text(figure: Figure) -> str:
    """The figure as printed, its thousands grouped; with its unit where the source has that in the head of a table."""
    printed = figure.printed
    if printed is None or figure.unit in NO_UNIT or UNIT_IN_PRINT.search(printed):
        return figure_text(figure)
    digits = re.sub(r"[~≈,\s]", "", printed)
    is_number = re.fullmatch(r"-?\d+(\.\d+)?", digits)
    number = f"{Decimal(digits):,}".replace(",", units.GROUP) if is_number else units.trimmed(float(figure.value))
    about = "about " if printed.startswith(("~", "≈")) else ""
    return f"{about}{number}{units.GAP}{UNIT_WORDS.get(figure.unit, figure.unit)}"


def with_unit(value: float, unit: str) -> str:
    """A value in its unit, for prose and tables: `262 ns`, `21 %`, `6 000 000`."""
    word = UNIT_WORDS.get(unit, unit)
    text = units.count(value) if unit == "count" and value == round(value) else units.trimmed(value)
    return f"{text}\u00a0{word}" if word else text


def fill(sentence: str, figures: Mapping[str, Figure]) -> str:
    """`sentence` with each `{figure}` replaced by its text, a derived one with its mark.

    Raises: FormulaError for an unknown figure.
    """

    def replace(match: re.Match[str]) -> str:
        figure = figures.get(match[1])
        if figure is None:
            raise FormulaError(f"`{{{match[1]}}}` is not a figure of this source")
        return figure_text(figure) + (DERIVED_MARK if figure.is_derived else "")

    return PLACEHOLDER.sub(replace, sentence)
