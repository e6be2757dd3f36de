"""Arithmetic over named figures, such as `(run_count - run_unused) / calls`: parsed, never executed.

Exact, in fractions: some figures are time stamps beyond 2^53, whose differences floats would round.
"""

import ast
import operator
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

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


def names(text: str) -> Iterator[str]:
    """The figure ids that the formula uses. Raises: FormulaError."""
    for node in ast.walk(_parse(text)):
        if isinstance(node, ast.Name) and node.id not in FUNCTIONS:
            yield node.id


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
