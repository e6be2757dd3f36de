"""Published figures, recomputed by formulas over the raw figures that the source prints too.

A formula is arithmetic over named figures, such as `(run_count - run_unused) / calls`: parsed, never executed. It is
exact, in fractions: some figures are time stamps beyond 2^53, whose differences floats would round.
"""

import ast
import operator
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from probe_effect import units
from probe_effect.model import AgreementVerdict
from probe_effect.store.beside_files import UNIT_SCALE, Figure, Finding

MAX_LENGTH = 2000
MAX_NODES = 500

MAX_VALUE = 10**100
"""The largest result: beyond any figure, and well inside the range of a float, as which results are printed."""

OPERATORS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
COMPARISONS: Mapping[type[ast.cmpop], Callable[[Fraction, Fraction], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}
FUNCTIONS: Mapping[str, Callable[[Sequence[Fraction]], Fraction]] = {
    "sum": lambda values: sum(values, Fraction()),
    "min": min,
    "max": max,
    "median": statistics.median,
    "abs": lambda values: abs(values[0]),
}


class FormulaError(ValueError):
    """The formula cannot be read, names an unknown figure, or divides by zero."""


def evaluate(text: str, values: Mapping[str, Fraction]) -> Fraction:
    """The value of a formula: numbers, figure ids, `+ - * / ( )` and the functions in `FUNCTIONS`.

    `values`: figure id to its value in base units. Raises: FormulaError.
    """
    return _computed(text, _parse(text), values)


def holds(text: str, values: Mapping[str, Fraction]) -> bool:
    """Whether a comparison such as `tier_cost <= 2 * cost` is true. Raises: FormulaError."""
    node = _parse(text)
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or type(node.ops[0]) not in COMPARISONS:
        raise FormulaError(f"`{text}` is not one comparison")
    left, right = (_computed(text, side, values) for side in (node.left, node.comparators[0]))
    return COMPARISONS[type(node.ops[0])](left, right)


def _parse(text: str) -> ast.expr:
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"formula longer than {MAX_LENGTH} characters")
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormulaError(f"`{text}` is not a formula") from None
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
        raise FormulaError(f"`{text[:60]}…` has more than {MAX_NODES} parts")
    return tree.body


def _computed(text: str, node: ast.expr, values: Mapping[str, Fraction]) -> Fraction:
    try:
        value = _value(node, values)
    except ZeroDivisionError:
        raise FormulaError(f"`{text}` divides by zero") from None
    if abs(value) > MAX_VALUE:
        raise FormulaError(f"`{text}` is larger than any figure")
    return value


def _value(node: ast.expr, values: Mapping[str, Fraction]) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool) and number < MAX_VALUE:
            return Fraction(str(number))
        case ast.Name(id=name):
            if name not in values:
                raise FormulaError(f"`{name}` is not a figure of this source")
            return values[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return OPERATORS[type(op)](_value(left, values), _value(right, values))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, values)
        case ast.Call(func=ast.Name(id="abs"), args=[_, _, *_]):
            raise FormulaError("abs takes one value")
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as arguments, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name]([_value(argument, values) for argument in arguments])
        case _:
            raise FormulaError(f"a formula may not hold {type(node).__name__}")


CLOSE_RATIO = Fraction(2, 100)
"""A recomputation within 2 % differs only by the rounding of its operands."""

LONGEST_UNBROKEN = 16
"""A number and its unit of up to this length does not break over a line."""
PUBLISHED_MARK = "†"
DERIVED_MARK = "‡"
"""Behind what others printed, and behind what was worked out here from what they printed."""

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
UNIT_WORDS = {"percent": "%", "us": "µs", "hz": "events/s", "count": "", "ratio": "times"}


class Recomputed(NamedTuple):
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
    if figure.printed is None:
        return with_unit(float(figure.value), figure.unit)
    return figure.printed.replace(" ", "\u00a0") if len(figure.printed) <= LONGEST_UNBROKEN else figure.printed


def printed_text(figure: Figure) -> str:
    """The figure as printed, its thousands grouped; with its unit where the source has that in the head of a table."""
    printed = figure.printed
    if printed is None or figure.unit in {"count", "ratio"} or re.search(r"[A-Za-zµ%]", printed):
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
    for name in PLACEHOLDER.findall(sentence):
        if name not in figures:
            raise FormulaError(f"`{{{name}}}` is not a figure of this source")
        figure = figures[name]
        sentence = sentence.replace(f"{{{name}}}", figure_text(figure) + (DERIVED_MARK if figure.is_derived else ""))
    return sentence
